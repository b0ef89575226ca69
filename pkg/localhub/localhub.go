// Package localhub wires a whole hub in one process: SQLite in a data folder, keys under a key file, a Bell and a
// Clockwork of its own, the /v1 interface, the inbox and, when asked for, the control API of the test build.
package localhub

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/mash-hub/mash/pkg/callback"
	"github.com/mash-hub/mash/pkg/httpapi"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/keyring"
	"github.com/mash-hub/mash/pkg/metrics"
	"github.com/mash-hub/mash/pkg/sqlitestore"
)

// Config is how to run a hub on one machine.
type Config struct {
	Folder        Folder
	Listen        string         // host:port; port 0 takes a free one
	PublicURL     string         // without a trailing slash; empty for http://<listen>
	Owner         string         // id of the first owner, without human:; empty for whoever owns the folder, or DefaultOwner
	AllowCallback []string       // host:port of callbacks that are permitted whatever their address, plain http included
	TLSCert       string         // file of the certificate, in PEM form, under which to serve https; empty for plain http
	TLSKey        string         // file of its key
	BehindProxy   []netip.Prefix // whose connections to take, and whose word for who asks; empty for everybody's and nobody's
	Conformance   bool           // serve the control API; loopback only
	Rate          *int           // submits a minute of one agent; nil for the default, 0 for no limit
	Depth         *int           // open asks and tasks of one agent; nil for the default, 0 for no limit
	Command       string         // what a person types in a shell to run mash, for hints; empty for mash
	Version       string         // of Mash, for whoever reads the metrics
	Metrics       string         // host:port at which the metrics are served, and nowhere else; empty for Listen, while no stranger asks there

	// Drain is how long a hub that is to end goes on to serve while it says that it is not ready, so that whatever stands
	// before it sends it no more.
	Drain time.Duration

	Log *slog.Logger
}

// DefaultOwner owns what a first start makes, unless another name is given.
const DefaultOwner = "owner"

// Server is a hub that serves.
type Server struct {
	Hub   *hub.Hub
	URL   string // what people and agents reach it at
	Owner *hub.Caller

	// FirstStart says that the folder was empty, so that an account was made.
	FirstStart bool

	// NewToken says that the owner's token of the folder was good no more, so that a new one was made.
	NewToken bool

	store    *sqlitestore.Store
	keys     *keyring.Keyring
	http     *http.Server
	listener net.Listener
	clock    *clockwork
	metrics  *metrics.Metrics
	watchers net.Listener // of those who read the metrics; nil for none
	drain    time.Duration
	draining chan struct{} // closed once the hub is to end
	stopping chan struct{} // closed when every wait has to
	release  func()
	folder   Folder
	log      *slog.Logger
}

// Open takes the folder and the address, and makes what a first start makes. It serves only when Run is called. Errors
// say what stands in the way: ErrHeld for a folder in use, a busy address, a public address where only loopback may be.
func Open(ctx context.Context, c Config) (_ *Server, err error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	s := &Server{folder: c.Folder, log: c.Log}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.listener, err = listen(c.Listen, "--listen"); err != nil { // before the folder, so that none is made in vain
		if c.Folder.Held() {
			return nil, c.Folder.held() // by what listens there, most likely
		}
		return nil, err
	}
	if c.Metrics != "" {
		if s.watchers, err = listen(c.Metrics, "--metrics"); err != nil {
			return nil, err
		}
	}
	if s.release, err = c.Folder.hold(); err != nil {
		return nil, err
	}
	here, err := s.secure(c)
	if err != nil {
		return nil, err
	}
	s.URL = c.PublicURL
	if s.URL == "" {
		s.URL = here
	}
	if err := s.wire(ctx, c); err != nil {
		return nil, err
	}
	if err := s.own(ctx, c.Owner); err != nil {
		return nil, err
	}
	return s, c.Folder.note(here, s.URL)
}

// OpenOffline takes the folder of a hub that does not run, for work that needs no network: it listens nowhere and can only
// be closed, never Run. What a first start makes, it makes. ErrHeld says that a hub runs after all.
func OpenOffline(ctx context.Context, folder Folder) (_ *Server, err error) {
	c := Config{Folder: folder, Log: slog.New(slog.DiscardHandler)}
	s := &Server{folder: folder, log: c.Log}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.release, err = folder.hold(); err != nil {
		return nil, err
	}
	if err := s.wire(ctx, c); err != nil {
		return nil, err
	}
	return s, s.own(ctx, "")
}

// check refuses what would open to the world what is meant for this machine alone.
func (c Config) check() error {
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		return fmt.Errorf("%q is no address to listen on; write HOST:PORT, such as 127.0.0.1:7420", c.Listen)
	}
	if err := c.checkWay(); err != nil {
		return err
	}
	if host, _, err := net.SplitHostPort(c.Metrics); c.Metrics != "" && (err != nil || host == "") {
		return fmt.Errorf("%q is no address for the metrics; name the host that may be asked for them, such as 127.0.0.1:7421", c.Metrics)
	}
	if loopback(c.Listen) {
		return nil
	}
	switch {
	case c.Conformance:
		return fmt.Errorf("--conformance asks nobody who they are, so it is refused on %s; listen on 127.0.0.1", c.Listen)
	case len(c.AllowCallback) > 0:
		return fmt.Errorf("--allow-callback lets callbacks reach this machine, so it is refused on %s; listen on 127.0.0.1", c.Listen)
	case c.TLSCert == "" && len(c.BehindProxy) == 0:
		return fmt.Errorf("%s can be reached from outside, and this hub speaks plain http; listen on 127.0.0.1, "+
			"or give --tls-cert and --tls-key, or --behind-proxy with the addresses of a proxy that ends TLS", c.Listen)
	}
	return nil
}

// wire builds the hub over its adapters, and the handler over the hub.
func (s *Server) wire(ctx context.Context, c Config) error {
	wrapper, err := keyring.OpenFile(c.Folder.keyFile())
	if err != nil {
		return err
	}
	if s.store, err = sqlitestore.Open(c.Folder.database()); err != nil {
		return err
	}
	s.keys, err = keyring.Open(ctx, s.store, wrapper)
	if err != nil {
		return err
	}
	if err := wrapper.Settle(); err != nil { // nobody else has the folder
		return err
	}
	settings := hub.DefaultSettings()
	settings.ServeAt(s.URL)
	if c.Rate != nil {
		settings.RequestsPerMinute = *c.Rate
	}
	if c.Depth != nil {
		settings.InboxDepth = *c.Depth
	}
	pusher, err := callback.New(callback.Config{Allow: c.AllowCallback})
	if err != nil {
		return err
	}
	s.clock = newClockwork(c.Log)
	s.metrics = metrics.New(c.Version)
	s.Hub = hub.New(s.store, s.keys, counted{pusher, s.metrics, c.Log}, &Bell{}, s.clock, settings)
	s.Hub.Prover = pusher
	s.clock.fire, s.clock.due = s.Hub.Fire, s.store.Due
	s.count()
	s.drain, s.stopping, s.draining = c.Drain, make(chan struct{}), make(chan struct{})
	s.http = &http.Server{
		Handler:           behind(c.BehindProxy, s.URL, s.web(c).Handler()),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		ErrorLog:          slog.NewLogLogger(c.Log.Handler(), slog.LevelError),
	}
	return nil
}

// Link makes a link that signs the owner in, once, and then shows the page at next ("" for the inbox).
func (s *Server) Link(ctx context.Context, next string) (string, error) {
	token, err := s.Hub.NewLogin(ctx, s.Owner, hub.LoginLink, httpapi.LinkLifetime)
	if err != nil {
		return "", err
	}
	if next != "" {
		next = "?next=" + next
	}
	return s.URL + "/in/" + token + next, nil
}

// web is what the hub serves.
func (s *Server) web(c Config) Web {
	w := Web{
		Hub: s.Hub, BaseURL: s.URL, Log: c.Log, Stopping: s.stopping, Draining: s.draining, Command: c.Command, Ready: s.ready, Metrics: s.metrics,
		ShowMetrics: c.Metrics == "" && loopback(c.Listen) && c.PublicURL == "", // where no stranger asks
	}
	if c.PublicURL == "" { // the pages may be seen from elsewhere, where folders are nobody's business
		w.Folder = c.Folder.named()
	}
	if c.Conformance {
		w.NewStore = MemoryStore
	}
	return w
}

// Close ends a Server that was opened and not run.
func (s *Server) Close() { s.close() }

func (s *Server) close() {
	if s.listener != nil {
		_ = s.listener.Close() // closed already after serving
	}
	if s.watchers != nil {
		_ = s.watchers.Close()
	}
	if s.store != nil {
		if err := s.store.Close(); err != nil {
			s.log.Error("the database did not close well", "err", err)
		}
		s.store = nil
	}
	if s.release != nil {
		s.release()
		s.release = nil
	}
}

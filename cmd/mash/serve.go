package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/localhub"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	data      string
	listen    string
	owner     string
	publicURL string
	allow     *list
	tlsCert   string
	tlsKey    string
	proxies   *list
	control   bool
	rate      int
	urlFile   string
	metrics   string
	drain     time.Duration
	logLevel  slog.Level
}

const defaultListen = "127.0.0.1:7420"

func serveCommand(flags *flag.FlagSet) action {
	f := serveFlags{allow: listFlag(flags, "allow-callback"), proxies: listFlag(flags, "behind-proxy")}
	flags.StringVar(&f.tlsCert, "tls-cert", "", "")
	flags.StringVar(&f.tlsKey, "tls-key", "", "")
	flags.StringVar(&f.data, "data", "", "")
	flags.StringVar(&f.listen, "listen", defaultListen, "")
	flags.StringVar(&f.owner, "owner", "", "")
	flags.StringVar(&f.publicURL, "public-url", "", "")
	flags.BoolVar(&f.control, "conformance", false, "")
	flags.IntVar(&f.rate, "rate", -1, "")
	flags.StringVar(&f.metrics, "metrics", "", "")
	flags.Func("drain", "", func(s string) (err error) {
		f.drain, err = waitingTime(s)
		return err
	})
	flags.StringVar(&f.urlFile, "url-file", "", "")
	flags.TextVar(&f.logLevel, "log-level", slog.LevelInfo, "")
	return func(ctx context.Context, p *program, args []string) error {
		if len(args) > 0 {
			return usagef("", "serve takes no argument, but got %q.", args[0])
		}
		return serve(ctx, p, &f)
	}
}

// serve runs a hub until ctx is done.
func serve(ctx context.Context, p *program, f *serveFlags) error {
	c, err := f.config(p)
	if err != nil {
		return err
	}
	if err := removeFile(f.urlFile); err != nil { // a stale one would speak of a hub that is gone
		return err
	}
	s, err := localhub.Open(ctx, c)
	if errors.Is(err, localhub.ErrHeld) {
		return held(c.Folder)
	}
	if err != nil {
		return err
	}
	if err := f.welcome(ctx, p, s, c.Folder); err != nil {
		s.Close()
		return err
	}
	if f.urlFile != "" { // the socket takes connections from here on
		if err := writeFile(f.urlFile, s.URL+"\n"); err != nil {
			s.Close()
			return err
		}
		defer os.Remove(f.urlFile) //nolint:errcheck // the next start removes it too
	}
	return s.Run(ctx)
}

// config turns the flags into what localhub wants to know.
func (f *serveFlags) config(p *program) (localhub.Config, error) {
	at, err := folder(f.data)
	if err != nil {
		return localhub.Config{}, err
	}
	public := strings.TrimRight(f.publicURL, "/")
	if u, err := url.Parse(public); public != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http") {
		return localhub.Config{}, usagef("", "--public-url wants a URL such as https://mash.example.com.")
	}
	if err := checkListen(f.listen); err != nil {
		return localhub.Config{}, err
	}
	c := localhub.Config{
		Folder: at, Listen: f.listen, PublicURL: public, Owner: strings.TrimPrefix(f.owner, "human:"),
		AllowCallback: *f.allow, Conformance: f.control, Command: p.name, Version: ownVersion(), Metrics: f.metrics, Drain: f.drain,
		Log: slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: f.logLevel})),
	}
	c.TLSCert, c.TLSKey = f.tlsCert, f.tlsKey
	if c.BehindProxy, err = prefixes(*f.proxies); err != nil {
		return localhub.Config{}, err
	}
	if f.rate >= 0 {
		c.Rate = &f.rate
	}
	return c, nil
}

// prefixes reads the addresses of proxies: each a range, or one alone.
func prefixes(list []string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, s := range list {
		p, err := netip.ParsePrefix(s)
		if a, single := netip.ParseAddr(s); single == nil {
			p, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err != nil {
			return nil, usagef("", "--behind-proxy wants the addresses of the proxy, such as 10.0.0.0/8 or 192.0.2.7, and %q is none.", s)
		}
		out = append(out, p.Masked())
	}
	return out, nil
}

// checkListen says how to write an address; whether it will do is for localhub to say.
func checkListen(address string) error {
	if _, _, err := net.SplitHostPort(address); err == nil {
		return nil
	}
	example := defaultListen
	if _, err := strconv.ParseUint(address, 10, 16); err == nil {
		example = net.JoinHostPort("127.0.0.1", address)
	}
	return usagef("", "%q is no address to listen on; write HOST:PORT, such as %s.", address, example)
}

// held says which hub has the folder already.
func held(at localhub.Folder) error {
	address, err := at.Address()
	if err != nil {
		return fmt.Errorf("another mash works with the data folder %s; wait for it, or choose another with --data", at)
	}
	return fmt.Errorf("the hub at %s holds the data folder %s already; use that one, stop it first, or choose another folder with --data",
		address, at)
}

// welcome prints what a person needs to go on.
func (f *serveFlags) welcome(ctx context.Context, p *program, s *localhub.Server, at localhub.Folder) error {
	link, err := s.Link(ctx, "")
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "Mash serves at %s\nEverything it keeps is in %s\n", s.URL, at)
	if s.FirstStart {
		fmt.Fprintf(p.stdout, "\nThis is its first start: it made an account, owned by %s.\n", s.Owner.Account.Owner)
	}
	if s.NewToken {
		fmt.Fprintf(p.stdout, "\nThe owner's token in the data folder was revoked. It holds a new one now.\n")
	}
	fmt.Fprintf(p.stdout, "\nYour inbox. The link signs you in, once, within a day:\n  %s\n", link)
	if s.MetricsOpen() {
		fmt.Fprintf(p.stdout, "\nMetrics are at %s, in plain HTTP, for whoever reaches that.\n", f.metrics)
	}
	agents, err := s.Hub.Agents(ctx, s.Owner)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(agents, func(a hub.AgentView) bool { return !a.Revoked }) {
		fmt.Fprintf(p.stdout, "\nNext, give an agent its token, in another terminal:\n  %s agent add NAME%s\n",
			p.name, dataArgs(f.data))
	}
	fmt.Fprint(p.stdout, "\nCtrl-C stops the hub. What waits stays safe and goes on when it starts again.\n")
	return nil
}

// removeFile removes a file that may be missing; "" names none.
func removeFile(path string) error {
	if path == "" {
		return nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the old %s: %w", path, err)
	}
	return nil
}

// writeFile writes a file whole or not at all, so that whoever waits for it never reads half of it.
func writeFile(path, text string) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), ".mash-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer os.Remove(temporary.Name()) //nolint:errcheck // gone already when all went well
	_, err = temporary.WriteString(text)
	if closed := temporary.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

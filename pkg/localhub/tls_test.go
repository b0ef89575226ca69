package localhub

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// pair writes a certificate for hub.example, which is good until then, and its key.
func pair(t *testing.T, serial int64, until time.Time) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "hub.example"}, DNSNames: []string{"hub.example"},
		NotBefore: until.Add(-1000 * time.Hour), NotAfter: until,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	certFile, keyFile = filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	write(t, certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	write(t, keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
	return certFile, keyFile
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// later is when the certificates of these tests expire.
var later = time.Now().Add(300 * time.Hour)

func TestACertificateThatWillNotDoIsRefusedInASentence(t *testing.T) {
	t.Parallel()
	cert, key := pair(t, 1, later)
	other, otherKey := pair(t, 2, later)
	old, oldKey := pair(t, 3, time.Now().Add(-time.Hour))
	early, earlyKey := pair(t, 4, time.Now().Add(2000*time.Hour))
	folder := t.TempDir()
	for want, c := range map[string]Config{
		"go together; give both":                          {TLSCert: cert},
		"there is no nowhere.pem, which":                  {TLSCert: "nowhere.pem", TLSKey: key},
		"there is no nowhere.key, which":                  {TLSCert: cert, TLSKey: "nowhere.key"},
		"cannot read " + folder:                           {TLSCert: folder, TLSKey: key},
		"do not go together":                              {TLSCert: cert, TLSKey: otherKey},
		"holds no certificate in PEM form":                {TLSCert: key, TLSKey: key},
		"holds no private key in PEM form":                {TLSCert: other, TLSKey: other},
		"expired on":                                      {TLSCert: old, TLSKey: oldKey},
		"is not valid before":                             {TLSCert: early, TLSKey: earlyKey},
		"write https there":                               {TLSCert: cert, TLSKey: key, PublicURL: "http://hub.example"},
		"is no address that people could open":            {Listen: ":0", TLSCert: cert, TLSKey: key},
		"wants --public-url too":                          {BehindProxy: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}},
		"is everybody":                                    {BehindProxy: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}, PublicURL: "https://hub.example"},
		"0.0.0.0/1 is everybody":                          {BehindProxy: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/1"), netip.MustParsePrefix("128.0.0.0/1")}, PublicURL: "https://hub.example"},
		"--public-url http://hub.example is plain http":   {PublicURL: "http://hub.example"},
		"localhost.hub.example is plain http":             {PublicURL: "http://localhost.hub.example"},
		"can be reached from outside":                     {Listen: "0.0.0.0:0"},
		"--conformance asks nobody who they are":          {Listen: "0.0.0.0:0", Conformance: true, TLSCert: cert, TLSKey: key, PublicURL: "https://hub.example"},
		"--allow-callback lets callbacks reach this mach": {Listen: "0.0.0.0:0", AllowCallback: []string{"x:1"}, TLSCert: cert, TLSKey: key, PublicURL: "https://hub.example"},
	} {
		if c.Listen == "" {
			c.Listen = "127.0.0.1:0"
		}
		c.Folder = Folder(filepath.Join(t.TempDir(), "new"))
		s, err := Open(t.Context(), c)
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open(%+v) = %v, want %q", c, err, want)
		}
		if _, err := os.Stat(string(c.Folder)); err == nil {
			t.Errorf("%q: a folder was made in vain", want)
		}
	}
}

func TestACertificateInTheDataFolderIsRefused(t *testing.T) {
	t.Parallel()
	cert, key := pair(t, 1, later)
	folder := t.TempDir()
	inside, below, link := filepath.Join(folder, "hub.pem"), filepath.Join(folder, "tls", "key.pem"), filepath.Join(t.TempDir(), "key.pem")
	write(t, inside, read(t, cert))
	if err := errors.Join(os.Mkdir(filepath.Join(folder, "tls"), 0o700), os.Symlink(below, link)); err != nil {
		t.Fatal(err)
	}
	write(t, below, read(t, key))
	for _, c := range []struct{ cert, key, says string }{
		{inside, key, "--tls-cert names " + inside}, {folder + "/tls/../hub.pem", key, "--tls-cert names "},
		{cert, below, "--tls-key names " + below}, {cert, link, "--tls-key names " + link},
	} {
		s, err := Open(t.Context(), Config{Folder: Folder(folder), Listen: "127.0.0.1:0", TLSCert: c.cert, TLSKey: c.key})
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "move it to a folder beside it") {
			t.Errorf("Open with %s and %s = %v, want %q", c.cert, c.key, err, c.says)
		}
	}
	if got := read(t, inside); string(got) != string(read(t, cert)) {
		t.Error("the certificate in the folder was written over")
	}
	beside := Config{Folder: Folder(folder), Listen: "127.0.0.1:0", TLSCert: folder + "-cert.pem", TLSKey: key}
	write(t, beside.TLSCert, read(t, cert))
	s, err := Open(t.Context(), beside)
	if err != nil {
		t.Fatalf("Open with a certificate beside the folder = %v", err)
	}
	s.Close()
}

// serveTLS runs a hub under a certificate.
func serveTLS(t *testing.T) *Server {
	t.Helper()
	cert, key := pair(t, 1, later)
	s, err := Open(t.Context(), Config{
		Folder: Folder(t.TempDir()), Listen: "127.0.0.1:0", TLSCert: cert, TLSKey: key, PublicURL: "https://hub.example/mash",
	})
	if err != nil {
		t.Fatal(err)
	}
	run(t, s)
	return s
}

func run(t *testing.T, s *Server) {
	t.Helper()
	done := make(chan error, 1)
	ctx, stop := contextOf(t)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestAHubUnderTLSIsReachedFromItsMachineAndBelowItsPath(t *testing.T) {
	t.Parallel()
	s := serveTLS(t)
	here, err := s.folder.Address()
	if err != nil || !strings.HasPrefix(here, "https://127.0.0.1:") {
		t.Fatalf("the hub is at %q, %v", here, err)
	}
	client, err := s.folder.HTTP()
	if err != nil || client == nil {
		t.Fatalf("HTTP() = %v, %v", client, err)
	}
	for path, want := range map[string]int{"/healthz": 200, "/mash/healthz": 200, "/mash/signin": 200, "/v1/me": 401, "/mash/v1/me": 401} {
		resp, err := client.Get(here + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != want || resp.ProtoMajor != 2 {
			t.Errorf("GET %s = %d by HTTP/%d, %v; want %d by HTTP/2: %s", path, resp.StatusCode, resp.ProtoMajor, err, want, body)
		}
		if path != "/mash/signin" {
			continue
		}
		if got := resp.Header.Get("Strict-Transport-Security"); got != "max-age=31536000" {
			t.Errorf("Strict-Transport-Security = %q", got)
		}
		if cookie := resp.Header.Get("Set-Cookie"); !strings.HasPrefix(cookie, "__Secure-mash_form_") || !strings.Contains(cookie, "; Secure") {
			t.Errorf("Set-Cookie = %q", cookie)
		}
		if !strings.Contains(string(body), `action="/mash/signin"`) {
			t.Errorf("the form does not lead below /mash: %s", body)
		}
	}
	counts := httptest.NewRecorder()
	s.metrics.Handler().ServeHTTP(counts, httptest.NewRequest("GET", "/metrics", nil))
	if want := `duration_seconds_count{endpoint="me",status="401"} 2`; !strings.Contains(counts.Body.String(), want) {
		t.Errorf("the metrics have no %s", want)
	}
	link, err := s.Link(t.Context(), "")
	if err != nil || !strings.HasPrefix(link, "https://hub.example/mash/in/") {
		t.Errorf("Link = %q, %v", link, err)
	}
}

func TestOldTLSAndPlainHTTPAreRefused(t *testing.T) {
	t.Parallel()
	s := serveTLS(t)
	address := s.listener.Addr().String()
	for version, want := range map[uint16]bool{tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		dialer := &tls.Dialer{Config: &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: version, InsecureSkipVerify: true}}
		c, err := dialer.DialContext(t.Context(), "tcp", address)
		if err == nil {
			c.Close()
		}
		if (err == nil) != want {
			t.Errorf("%s: %v, want good: %t", tls.VersionName(version), err, want)
		}
	}
	resp, err := http.Get("http://" + address + "/healthz")
	if err == nil {
		resp.Body.Close()
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("plain http = %d, want 400", resp.StatusCode)
		}
	}
	if resp, err := (&http.Client{}).Get("https://" + address + "/healthz"); err == nil {
		resp.Body.Close()
		t.Error("a client that knows nothing of the certificate takes it")
	}
}

func TestACertificateIsReadAgainWhenItChanges(t *testing.T) {
	t.Parallel()
	certFile, keyFile := pair(t, 1, later)
	now, noted := time.Now(), 0
	var log strings.Builder
	c := &certificate{
		certFile: certFile, keyFile: keyFile, log: slog.New(slog.NewTextHandler(&log, nil)), now: func() time.Time { return now },
		note: func([][]byte) error { noted++; return nil },
	}
	if err := c.load(); err != nil {
		t.Fatal(err)
	}
	serial := func() int64 {
		got, err := c.get(nil)
		if err != nil {
			t.Fatal(err)
		}
		return got.Leaf.SerialNumber.Int64()
	}
	next, nextKey := pair(t, 22, later)
	write(t, certFile, append(read(t, next), "\n"...)) // another size, whatever the clock of the file system says
	if got := serial(); got != 1 {
		t.Errorf("at once it is %d, want 1", got)
	}
	now = now.Add(recheck)
	if got := serial(); got != 1 || !strings.Contains(log.String(), "the one before stays") {
		t.Errorf("with a key that does not fit it is %d, want 1 and a word in the log: %s", got, log.String())
	}
	write(t, keyFile, append(read(t, nextKey), "\n"...))
	now = now.Add(recheck)
	if got := serial(); got != 22 || noted != 2 {
		t.Errorf("with its key it is %d, noted %d times; want 22, twice", got, noted)
	}
	if recheck > time.Minute {
		t.Errorf("a change is seen after %v, want a minute at most", recheck)
	}
}

// guests is a listener whose connections come from wherever is said.
type guests struct {
	net.Listener
	from []string
}

type guest struct {
	net.Conn
	remote, local net.Addr
	closed        *bool
}

func (g guest) RemoteAddr() net.Addr { return g.remote }
func (g guest) LocalAddr() net.Addr  { return g.local }
func (g guest) Close() error         { *g.closed = true; return nil }

func (g *guests) Accept() (net.Conn, error) {
	if len(g.from) == 0 {
		return nil, net.ErrClosed
	}
	remote := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(g.from[0]))
	g.from = g.from[1:]
	return guest{remote: remote, local: net.TCPAddrFromAddrPort(netip.MustParseAddrPort("192.0.2.1:7420")), closed: new(bool)}, nil
}

func TestOnlyTheProxyAndThisMachineComeIn(t *testing.T) {
	t.Parallel()
	all := []string{"10.1.2.3:5", "192.0.2.9:5", "127.0.0.1:5", "[::1]:5", "192.0.2.1:5", "[::ffff:10.9.9.9]:5", "[2001:db8::1]:5", "11.0.0.1:5"}
	g := gate{&guests{from: all}, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}
	var in []string
	for {
		c, err := g.Accept()
		if err != nil {
			break
		}
		in = append(in, addressOf(c.RemoteAddr().String()).String())
	}
	if got, want := strings.Join(in, " "), "10.1.2.3 127.0.0.1 ::1 192.0.2.1 10.9.9.9"; got != want {
		t.Errorf("%s come in, want %s", got, want)
	}
}

func TestWhoAsksIsTheLastWhomNoProxyIs(t *testing.T) {
	t.Parallel()
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, c := range []struct {
		peer      string
		forwarded []string
		want      string
	}{
		{"10.0.0.1", nil, "10.0.0.1"},
		{"10.0.0.1", []string{"203.0.113.7"}, "203.0.113.7"},
		{"10.0.0.1", []string{"198.51.100.1, 203.0.113.7"}, "203.0.113.7"}, // the first was written by whoever asks
		{"10.0.0.1", []string{"198.51.100.1", "203.0.113.7, 10.0.0.2"}, "203.0.113.7"},
		{"10.0.0.1", []string{"10.0.0.9, 10.0.0.2"}, "10.0.0.9"},
		{"10.0.0.1", []string{"nonsense"}, "10.0.0.1"},
		{"10.0.0.1", []string{"nonsense, 10.0.0.2"}, "10.0.0.2"},
		{"10.0.0.1", []string{"203.0.113.7:4711"}, "203.0.113.7"},
		{"fd00::1", []string{"[2001:db8::7]:80"}, "2001:db8::7"},
		{"203.0.113.9", []string{"198.51.100.1"}, "203.0.113.9"}, // no proxy of ours
	} {
		if got := clientOf(proxies, netip.MustParseAddr(c.peer), c.forwarded); got.String() != c.want {
			t.Errorf("clientOf(%s, %q) = %s, want %s", c.peer, c.forwarded, got, c.want)
		}
	}
}

func TestAProxyIsBelieved(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Config{
		Folder: Folder(t.TempDir()), Listen: "127.0.0.1:0", PublicURL: "https://hub.example/mash",
		BehindProxy: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
	})
	if err != nil {
		t.Fatal(err)
	}
	run(t, s)
	here, err := s.folder.Address()
	if err != nil {
		t.Fatal(err)
	}
	ask := func(method, path string, header http.Header) (status int, location string) {
		r, err := http.NewRequestWithContext(t.Context(), method, here+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header = header
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode, resp.Header.Get("Location")
	}
	https := http.Header{"X-Forwarded-Proto": {"https"}, "X-Forwarded-For": {"203.0.113.7"}}
	plain := http.Header{"X-Forwarded-Proto": {"http"}}
	for _, c := range []struct {
		method, path string
		header       http.Header
		want         int
	}{
		{"GET", "/mash/signin", https, 200}, {"GET", "/signin", https, 200}, {"GET", "/signin", http.Header{}, 200},
		{"GET", "/signin", plain, 308}, {"POST", "/v1/messages", plain, 403}, {"GET", "/healthz", plain, 200},
	} {
		if got, _ := ask(c.method, c.path, c.header); got != c.want {
			t.Errorf("%s %s with %v = %d, want %d", c.method, c.path, c.header, got, c.want)
		}
	}
	if _, to := ask("GET", "/inbox/x", plain); to != "https://hub.example/mash" {
		t.Errorf("plain http leads to %q", to)
	}
}

// contextOf is a context that a test ends when it is over.
func contextOf(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithCancel(context.WithoutCancel(t.Context()))
}

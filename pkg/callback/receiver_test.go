package callback_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"time"
)

// TestMain puts a proxy at which nobody listens into the environment, so that whatever used one would fail.
func TestMain(m *testing.M) {
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		_ = os.Setenv(name, "http://127.0.0.1:1")
	}
	_ = os.Setenv("NO_PROXY", "")
	_ = os.Setenv("no_proxy", "")
	os.Exit(m.Run())
}

// authority issues certificates that its pool trusts.
type authority struct {
	pool *x509.CertPool
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

var theAuthority = sync.OnceValue(func() *authority {
	key := newKey()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		panic(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return &authority{pool, cert, key}
})

func newKey() *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	return key
}

// issue returns a certificate for these names that is good until then.
func (a *authority) issue(t *testing.T, until time.Time, names ...string) tls.Certificate {
	t.Helper()
	key := newKey()
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(2), DNSNames: names, NotBefore: time.Now().Add(-time.Hour), NotAfter: until,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// honest is a receiver on loopback with the certificate of public names, which is reached from below the guard.
type honest struct {
	address string

	mu     sync.Mutex
	dialed []string // what the guard has let pass
}

// newHonest starts one. It takes everything, but for a path that redirects to another of its own.
func newHonest(t *testing.T) *honest {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/redirect" {
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		}
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	cert := theAuthority().issue(t, time.Now().Add(time.Hour), "callback.example", "*.callback.example", "xn--bcher-kva.example")
	server.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	server.StartTLS()
	t.Cleanup(server.Close)
	return &honest{address: server.Listener.Addr().String()}
}

// silent is a public address at which nobody is.
const silent = "9.9.9.9"

// connect notes where to and goes to the receiver.
func (h *honest) connect(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	h.dialed = append(h.dialed, host)
	h.mu.Unlock()
	if host == silent {
		return nil, &net.OpError{Op: "dial", Net: network, Err: os.ErrDeadlineExceeded}
	}
	return (&net.Dialer{}).DialContext(ctx, network, h.address)
}

// take returns what was dialled, and forgets it.
func (h *honest) take() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	taken := h.dialed
	h.dialed = nil
	return taken
}

package localhub

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"
)

// checkWay says what does not go together of how people are to reach the hub.
func (c Config) checkWay() error {
	https := strings.HasPrefix(c.PublicURL, "https://")
	switch {
	case (c.TLSCert == "") != (c.TLSKey == ""):
		return errors.New("--tls-cert and --tls-key go together; give both, or neither")
	case len(c.BehindProxy) > 0 && !https:
		return errors.New("--behind-proxy wants --public-url too, the https URL at which the proxy is reached")
	case c.TLSCert != "" && c.PublicURL != "" && !https:
		return fmt.Errorf("with --tls-cert the hub speaks https, and --public-url is %s; write https there", c.PublicURL)
	case c.TLSCert != "" && c.PublicURL == "" && anywhere(c.Listen):
		return fmt.Errorf("%s is no address that people could open; say with --public-url what they reach the hub at, "+
			"such as https://mash.example.com:7420", c.Listen)
	}
	for _, p := range c.BehindProxy {
		if p.Bits() == 0 {
			return fmt.Errorf("--behind-proxy %s is everybody; name the addresses of the proxy", p)
		}
	}
	if c.TLSCert == "" {
		return nil
	}
	return c.certificate(func([][]byte) error { return nil }).load() // before a folder is made in vain
}

// anywhere says whether an address stands for all addresses of this machine.
func anywhere(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	a := addressOf(host)
	return err == nil && (host == "" || a.IsValid() && a.IsUnspecified())
}

// secure puts before the listener what keeps others out, and returns the URL at which this machine reaches the hub.
func (s *Server) secure(c Config) (here string, _ error) {
	_, port, err := net.SplitHostPort(s.listener.Addr().String())
	if err != nil {
		return "", err
	}
	at := s.listener.Addr().String()
	if anywhere(at) {
		at = net.JoinHostPort("127.0.0.1", port)
	}
	if len(c.BehindProxy) > 0 {
		s.listener = gate{s.listener, c.BehindProxy}
	}
	if c.TLSCert == "" {
		return "http://" + at, c.Folder.forgetCertificate()
	}
	certificate := c.certificate(c.Folder.noteCertificate)
	if err := certificate.load(); err != nil {
		return "", err
	}
	s.listener = tls.NewListener(s.listener, certificate.config())
	return "https://" + at, nil
}

func (c Config) certificate(note func(chain [][]byte) error) *certificate {
	return &certificate{certFile: c.TLSCert, keyFile: c.TLSKey, note: note, log: c.Log, now: time.Now}
}

// basePath is the path of a public URL, without a slash at its end.
func basePath(publicURL string) string {
	u, err := url.Parse(publicURL)
	if err != nil {
		return ""
	}
	return strings.TrimRight(u.Path, "/")
}

package localhub

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
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
	case c.PublicURL != "" && !https && !ofThisMachine(c.PublicURL):
		return fmt.Errorf("--public-url %s is plain http, and whoever is on the way could read people's sessions; "+
			"write https, with --tls-cert or --behind-proxy, or an address of this machine", c.PublicURL)
	case c.TLSCert != "" && c.PublicURL == "" && anywhere(c.Listen):
		return fmt.Errorf("%s is no address that people could open; say with --public-url what they reach the hub at, "+
			"such as https://mash.example.com:7420", c.Listen)
	}
	for _, p := range c.BehindProxy {
		if p.Addr().Is4() && p.Bits() < 8 || p.Bits() < 7 { // nobody has more addresses of their own
			return fmt.Errorf("--behind-proxy %s is everybody; name the addresses of the proxy", p)
		}
	}
	if c.TLSCert == "" {
		return nil
	}
	for _, file := range []struct{ flag, path string }{{"--tls-cert", c.TLSCert}, {"--tls-key", c.TLSKey}} {
		if c.Folder.contains(file.path) {
			return fmt.Errorf("%s names %s, which is in the data folder, where the hub keeps files of its own and no backup has others; "+
				"move it to a folder beside it", file.flag, file.path)
		}
	}
	return c.certificate(func([][]byte) error { return nil }).load() // before a folder is made in vain
}

// ofThisMachine says whether a URL is one that other machines cannot be led by.
func ofThisMachine(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || addressOf(host).IsLoopback()
}

// contains says whether a file is in the folder or below it, by its name or by where that leads.
func (f Folder) contains(file string) bool {
	for _, follow := range []func(string) (string, error){filepath.Abs, followed} {
		folder, err := follow(string(f))
		if err != nil {
			continue // where there is no folder yet, nothing is in it
		}
		path, err := follow(file)
		if err != nil {
			continue
		}
		if rest, err := filepath.Rel(folder, path); err == nil && filepath.IsLocal(rest) {
			return true
		}
	}
	return false
}

// followed is a path without symbolic links.
func followed(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
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

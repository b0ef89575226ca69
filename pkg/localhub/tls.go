package localhub

import (
	"bytes"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"
)

// certificate is the TLS certificate of a hub: two PEM files, which are read again when they change.
type certificate struct {
	certFile, keyFile string
	note              func(chain [][]byte) error // is told of each that is taken
	log               *slog.Logger
	now               func() time.Time

	mu        sync.Mutex
	current   *tls.Certificate
	stamps    [2]stamp // of the files as they were last read
	checkedAt time.Time
}

// stamp tells a file from the one that stood there before.
type stamp struct {
	size     int64
	modified time.Time
}

// recheck is how long a certificate is used before the files are looked at again.
const recheck = 10 * time.Second

// load reads the files, and says in a sentence what is wrong with them.
func (c *certificate) load() error {
	c.stamps = [2]stamp{stampOf(c.certFile), stampOf(c.keyFile)}
	c.checkedAt = c.now()
	var texts [2][]byte
	for i, f := range []struct{ flag, path string }{{"--tls-cert", c.certFile}, {"--tls-key", c.keyFile}} {
		text, err := os.ReadFile(f.path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("there is no %s, which %s names", f.path, f.flag)
		case err != nil:
			return fmt.Errorf("cannot read %s, which %s names: %w", f.path, f.flag, errors.Unwrap(err))
		}
		texts[i] = text
	}
	pair, err := tls.X509KeyPair(texts[0], texts[1])
	if err != nil {
		return c.explain(texts, err)
	}
	if leaf, now := pair.Leaf, c.now(); now.After(leaf.NotAfter) {
		return fmt.Errorf("the certificate in %s expired on %s; renew it", c.certFile, leaf.NotAfter.Format(time.DateOnly))
	} else if now.Before(leaf.NotBefore) {
		return fmt.Errorf("the certificate in %s is not valid before %s; is the clock right?", c.certFile, leaf.NotBefore.Format(time.DateTime))
	}
	if err := c.note(pair.Certificate); err != nil {
		c.stamps = [2]stamp{} // to be tried again
		return err
	}
	c.current = &pair
	return nil
}

// explain says which of the files is not what it should be.
func (c *certificate) explain(texts [2][]byte, err error) error {
	switch {
	case !bytes.Contains(texts[0], []byte("-----BEGIN CERTIFICATE-----")):
		return fmt.Errorf("%s holds no certificate in PEM form; --tls-cert wants the certificate, then those that signed it", c.certFile)
	case !bytes.Contains(texts[1], []byte("PRIVATE KEY-----")):
		return fmt.Errorf("%s holds no private key in PEM form, without a password, as --tls-key wants it", c.keyFile)
	}
	return fmt.Errorf("the certificate in %s and the key in %s do not go together: %w", c.certFile, c.keyFile, err)
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.Size(), info.ModTime()}
}

// get returns the certificate for a handshake. One that does not replace the one before well is said to be so in the log,
// once, and the one before stays.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now().Sub(c.checkedAt) < recheck {
		return c.current, nil
	}
	c.checkedAt = c.now()
	if c.stamps != [2]stamp{stampOf(c.certFile), stampOf(c.keyFile)} {
		if err := c.load(); err != nil {
			c.log.Error("the new certificate is not taken, the one before stays", "err", err)
		} else {
			c.log.Info("the certificate was read again", "expires", c.current.Leaf.NotAfter)
		}
	}
	return c.current, nil
}

// config is how a hub speaks TLS.
func (c *certificate) config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get, NextProtos: []string{"h2", "http/1.1"}}
}

// noteCertificate writes down the certificate, for commands at this machine.
func (f Folder) noteCertificate(chain [][]byte) error {
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: chain[0]})
	if err := writeSecret(f.certificate(), string(bytes.TrimSpace(text))); err != nil {
		return fmt.Errorf("note the certificate: %w", err)
	}
	return nil
}

// forgetCertificate is for a hub that speaks plain http.
func (f Folder) forgetCertificate() error {
	if err := os.Remove(f.certificate()); err != nil && !missing(err) {
		return fmt.Errorf("forget the certificate: %w", err)
	}
	return nil
}

// HTTP returns what a command at this machine calls the hub of the folder by: under TLS it takes the very certificate that
// the hub has written down, whatever its name and whoever signed it. Nil means that nothing special is needed.
func (f Folder) HTTP() (*http.Client, error) {
	text, err := os.ReadFile(f.certificate())
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the hub's certificate: %w", err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s holds no certificate", f.certificate())
	}
	check := func(s tls.ConnectionState) error {
		if len(s.PeerCertificates) == 0 || !bytes.Equal(s.PeerCertificates[0].Raw, block.Bytes) {
			return errors.New("what answers has not the certificate that the hub noted in its data folder")
		}
		return nil
	}
	return &http.Client{Transport: &http.Transport{
		ForceAttemptHTTP2: true,
		//nolint:gosec // it is held to the one certificate instead
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true, VerifyConnection: check},
	}}, nil
}

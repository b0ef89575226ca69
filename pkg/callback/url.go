package callback

import (
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// maxURL is the longest URL of a callback, in bytes.
const maxURL = 2048

// Refusal is why a URL can never be pushed to, as one plain sentence for whoever sent it.
type Refusal string

// Error returns the sentence.
func (r Refusal) Error() string { return string(r) }

// The refusals of Check.
const (
	refuseForm     Refusal = "This is no absolute URL; write https://HOST/PATH."
	refuseScheme   Refusal = "Callbacks go over HTTPS only; write https://HOST/PATH, or for development start the hub with --allow-callback HOST:PORT."
	refuseUser     Refusal = "A URL with a user name or password in it is refused; leave them out."
	refuseHost     Refusal = "The host is no plain ASCII name or address; write a name that DNS knows."
	refusePort     Refusal = "The port is no number from 1 to 65535."
	refuseAddress  Refusal = "The host is a private or special address, which this hub does not call; use a public name, or for development start the hub with --allow-callback HOST:PORT."
	refuseTooLong  Refusal = "The URL is longer than 2048 bytes."
	refuseFragment Refusal = "A URL with a fragment is refused; leave out the # and what follows."
)

// Check says in one plain sentence why no attempt to this URL could ever be made, or returns nil. It resolves no name:
// what a name leads to is checked at each attempt. The error is a Refusal.
func (p *Pusher) Check(rawURL string) error {
	_, err := p.clientFor(rawURL)
	return err
}

// clientFor returns the client that may go to the URL.
func (p *Pusher) clientFor(rawURL string) (*http.Client, error) {
	if len(rawURL) > maxURL {
		return nil, refuseTooLong
	}
	u, err := url.Parse(rawURL)
	if err != nil || !u.IsAbs() || u.Opaque != "" || u.Host == "" {
		return nil, refuseForm
	}
	if u.User != nil {
		return nil, refuseUser
	}
	if u.Fragment != "" || strings.Contains(rawURL, "#") {
		return nil, refuseFragment
	}
	port, err := portOf(u)
	if err != nil {
		return nil, err
	}
	if p.allow[destination(u.Hostname(), port)] && (u.Scheme == "https" || u.Scheme == "http") {
		return p.open, nil
	}
	if u.Scheme != "https" {
		return nil, refuseScheme
	}
	if err := checkHost(u.Hostname()); err != nil {
		return nil, err
	}
	return p.guarded, nil
}

func portOf(u *url.URL) (string, error) {
	port := u.Port()
	switch {
	case port == "" && strings.HasSuffix(u.Host, ":"):
		return "", refusePort
	case port == "" && u.Scheme == "http":
		return "80", nil
	case port == "":
		return "443", nil
	case !isPort(port):
		return "", refusePort
	}
	return port, nil
}

func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0 && strconv.FormatUint(n, 10) == s
}

// checkHost refuses what is or must lead to a special address, however it is spelled.
func checkHost(host string) error {
	if addr, err := netip.ParseAddr(strings.TrimSuffix(host, ".")); err == nil {
		if isSpecial(addr) {
			return refuseAddress
		}
		return nil
	}
	for i := range len(host) {
		if !isHostByte(host[i]) {
			return refuseHost
		}
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	last := name[strings.LastIndex(name, ".")+1:]
	switch {
	case last == "localhost":
		return refuseAddress
	case last == "" || isNumber(last):
		// Some resolvers read 127.1, 0x7f000001 or 0177.0.0.1 as addresses. None is a name.
		return refuseHost
	}
	return nil
}

func isHostByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.'
}

// isNumber says whether a label is what some resolvers take for the number of an address: decimal, octal or hexadecimal.
func isNumber(label string) bool {
	digits, isHex := strings.CutPrefix(label, "0x")
	for i := range len(digits) {
		c := digits[i]
		if (c < '0' || c > '9') && (!isHex || c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

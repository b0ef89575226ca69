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
	refuseDot      Refusal = "The host ends in a dot; leave it out."
	refusePort     Refusal = "The port is no number from 1 to 65535."
	refuseAddress  Refusal = "The host is a private or special address, which this hub does not call; use a public name, or for development start the hub with --allow-callback HOST:PORT."
	refuseTooLong  Refusal = "The URL is longer than 2048 bytes."
	refuseFragment Refusal = "A URL with a fragment is refused; leave out the # and what follows."
)

// urlRule is one reason for which a URL is refused. Those of the form hold for every URL, the others not where the operator
// has allowed the destination by name.
type urlRule struct {
	name    string
	form    bool
	refuses func(rawURL string, u *url.URL) bool
	why     Refusal
}

// urlRules are in the order in which they are applied.
func urlRules() []urlRule {
	address := addressRules()
	return []urlRule{
		{"length", true, func(raw string, _ *url.URL) bool { return len(raw) > maxURL }, refuseTooLong},
		{"user", true, func(_ string, u *url.URL) bool { return u.User != nil }, refuseUser},
		{"fragment", true, func(raw string, u *url.URL) bool { return u.Fragment != "" || strings.Contains(raw, "#") }, refuseFragment},
		{"port", true, func(_ string, u *url.URL) bool { return portOf(u) == "" }, refusePort},
		{"scheme", false, func(_ string, u *url.URL) bool { return u.Scheme != "https" }, refuseScheme},
		{"trailing dot", false, func(_ string, u *url.URL) bool { return strings.HasSuffix(u.Hostname(), ".") }, refuseDot},
		{"address", false, func(_ string, u *url.URL) bool {
			addr, err := netip.ParseAddr(u.Hostname())
			return err == nil && forbidden(address, addr)
		}, refuseAddress},
		{"letters", false, func(_ string, u *url.URL) bool { return !isPlain(u.Hostname()) }, refuseHost},
		{"localhost", false, func(_ string, u *url.URL) bool { return lastLabel(u.Hostname()) == "localhost" }, refuseAddress},
		{"number", false, func(_ string, u *url.URL) bool {
			// Some resolvers read 127.1, 0x7f000001 or 0177.0.0.1 as addresses. None is a name.
			_, err := netip.ParseAddr(u.Hostname())
			last := lastLabel(u.Hostname())
			return err != nil && last != "" && isNumber(last)
		}, refuseHost},
	}
}

// Check says in one plain sentence why no attempt to this URL could ever be made, or returns nil. It resolves no name:
// what a name leads to is checked at each attempt. The error is a Refusal.
func (p *Pusher) Check(rawURL string) error {
	_, err := p.clientFor(rawURL)
	return err
}

// Vouched says whether the operator has allowed the destination of the URL by name.
func (p *Pusher) Vouched(rawURL string) bool {
	client, err := p.clientFor(rawURL)
	return err == nil && client == p.open
}

// clientFor returns the client that may go to the URL.
func (p *Pusher) clientFor(rawURL string) (*http.Client, error) {
	u, err := url.Parse(rawURL)
	if err != nil || !u.IsAbs() || u.Opaque != "" || u.Host == "" {
		return nil, refuseForm
	}
	allowed := p.allow[destination(u.Hostname(), portOf(u))] && (u.Scheme == "https" || u.Scheme == "http")
	for _, r := range p.rules {
		if (r.form || !allowed) && r.refuses(rawURL, u) {
			return nil, r.why
		}
	}
	if allowed {
		return p.open, nil
	}
	return p.guarded, nil
}

// portOf returns the port of a URL, or "" for one that is none.
func portOf(u *url.URL) string {
	port := u.Port()
	switch {
	case port == "" && strings.HasSuffix(u.Host, ":"):
		return ""
	case port == "" && u.Scheme == "http":
		return "80"
	case port == "":
		return "443"
	case !isPort(port):
		return ""
	}
	return port
}

func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0 && strconv.FormatUint(n, 10) == s
}

// isPlain says whether a host is an address or has only the letters of names in DNS.
func isPlain(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	for i := range len(host) {
		if !isHostByte(host[i]) {
			return false
		}
	}
	return host != "" && !strings.HasPrefix(host, ".") && !strings.Contains(host, "..")
}

func isHostByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.'
}

func lastLabel(host string) string {
	host = strings.ToLower(host)
	return host[strings.LastIndex(host, ".")+1:]
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

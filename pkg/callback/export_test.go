package callback

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"

	"code.dny.dev/ssrf"
)

// Below has all connections of the guarded client made by connect, which is called with what the guard has let pass: the
// way to a receiver whose address is public only to the resolver of a test.
func (p *Pusher) Below(connect func(ctx context.Context, network, address string) (net.Conn, error)) {
	p.guard.connect = connect
}

func (p *Pusher) transport() *http.Transport { return p.guarded.Transport.(*http.Transport) }

// Mutations take one rule away each: every rule of URLs and of addresses, every prefix of the guard library, and what is
// built into the client.
func Mutations() map[string]func(*Pusher) {
	all := map[string]func(*Pusher){
		"redirects are not followed":  func(p *Pusher) { p.guarded.CheckRedirect = nil },
		"no proxy is used":            func(p *Pusher) { p.transport().Proxy = http.ProxyFromEnvironment },
		"what was checked is dialled": func(p *Pusher) { p.transport().DialContext = p.dialAnew },
		"each address is checked":     func(p *Pusher) { p.transport().DialContext = p.dialAfterTheFirst },
	}
	for _, r := range urlRules() {
		all["URL: "+r.name] = func(p *Pusher) {
			p.rules = slices.DeleteFunc(p.rules, func(x urlRule) bool { return x.name == r.name })
		}
	}
	for i, r := range addressRules() {
		all["address: "+r.name] = func(p *Pusher) { p.check(slices.Delete(addressRules(), i, i+1)) }
	}
	for _, prefix := range ssrf.IPv4DeniedPrefixes {
		all["prefix: "+prefix.String()] = func(p *Pusher) { p.check(addressRules(ssrf.WithAllowedV4Prefixes(prefix))) }
	}
	for _, prefix := range ssrf.IPv6DeniedPrefixes {
		all["prefix: "+prefix.String()] = func(p *Pusher) { p.check(addressRules(ssrf.WithAllowedV6Prefixes(prefix))) }
	}
	all["prefix: outside "+ssrf.IPv6GlobalUnicast.String()] = func(p *Pusher) {
		p.check(addressRules(ssrf.WithAllowedV6Prefixes(
			netip.MustParsePrefix("::/3"), netip.MustParsePrefix("4000::/2"), netip.MustParsePrefix("8000::/1"))))
	}
	return all
}

// check has names and literal addresses checked by these rules alone.
func (p *Pusher) check(rules []addressRule) {
	p.guard.rules = rules
	for i, r := range p.rules {
		if r.name == "address" {
			p.rules[i].refuses = func(_ string, u *url.URL) bool {
				addr, err := netip.ParseAddr(u.Hostname())
				return err == nil && forbidden(rules, addr)
			}
		}
	}
}

// dialAnew checks what DNS says, and then asks it once more.
func (p *Pusher) dialAnew(ctx context.Context, network, address string) (net.Conn, error) {
	checked := *p.guard
	checked.connect = func(context.Context, string, string) (net.Conn, error) { return nil, nil }
	if _, err := checked.dial(ctx, network, address); err != nil {
		return nil, err
	}
	unchecked := *p.guard
	unchecked.rules = nil
	return unchecked.dial(ctx, network, address)
}

// dialAfterTheFirst checks the first address that DNS gives and connects to any.
func (p *Pusher) dialAfterTheFirst(ctx context.Context, network, address string) (net.Conn, error) {
	lax, looked := *p.guard, false
	lax.rules = []addressRule{{"the first", func(a netip.Addr) bool {
		first := !looked
		looked = true
		return first && forbidden(p.guard.rules, a)
	}}}
	return lax.dial(ctx, network, address)
}

// HasLine says whether a file is a proof.
func HasLine(file []byte, line string) bool { return hasLine(file, line) }

// MaxProof is how much of a file is read, in bytes.
const MaxProof = maxProof

// Close gives back what a Pusher holds.
func (p *Pusher) Close() {
	p.guarded.CloseIdleConnections()
	p.open.CloseIdleConnections()
}

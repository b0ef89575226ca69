package localhub

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// gate lets in connections of the proxies, and of this machine, and no others.
type gate struct {
	net.Listener
	proxies []netip.Prefix
}

// Accept implements net.Listener.
func (g gate) Accept() (net.Conn, error) {
	for {
		c, err := g.Listener.Accept()
		if err != nil || g.admits(c.RemoteAddr(), c.LocalAddr()) {
			return c, err
		}
		_ = c.Close() // who is not to come in is told nothing
	}
}

func (g gate) admits(remote, local net.Addr) bool {
	from := addressOf(remote.String())
	return from.IsLoopback() || from.IsValid() && from == addressOf(local.String()) || trusted(g.proxies, from)
}

func trusted(proxies []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(proxies, func(p netip.Prefix) bool { return p.Contains(a) })
}

// addressOf reads the address of a host:port or a host; one that is none is invalid.
func addressOf(s string) netip.Addr {
	if host, _, err := net.SplitHostPort(s); err == nil {
		s = host
	}
	a, err := netip.ParseAddr(strings.Trim(s, "[]"))
	if err != nil {
		return netip.Addr{}
	}
	return a.Unmap().WithZone("")
}

// behind believes what the proxies say of who asks and how, and nobody else. Without proxies nobody is believed.
func behind(proxies []netip.Prefix, publicURL string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !trusted(proxies, addressOf(r.RemoteAddr)) {
			next.ServeHTTP(w, r) // nothing of ours reads what it may say of itself
			return
		}
		proto := r.Header.Values("X-Forwarded-Proto")
		from := clientOf(proxies, addressOf(r.RemoteAddr), r.Header.Values("X-Forwarded-For"))
		r = r.WithContext(r.Context()) // a copy
		r.RemoteAddr = net.JoinHostPort(from.String(), "0")
		if plainHTTP(proto) && !slices.Contains(looks, r.URL.Path) {
			refusePlain(w, r, publicURL)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// looks are what a proxy asks by itself, to see whether the hub is well.
var looks = []string{"/healthz", "/readyz", "/metrics"}

// clientOf is who asks: of those who were named along the way, the last whom no proxy of ours is. What stands before that,
// anybody may have written.
func clientOf(proxies []netip.Prefix, peer netip.Addr, forwarded []string) netip.Addr {
	hops := strings.Split(strings.Join(forwarded, ","), ",")
	for from := peer; ; {
		if !trusted(proxies, from) || len(hops) == 0 {
			return from
		}
		last := addressOf(strings.TrimSpace(hops[len(hops)-1]))
		if !last.IsValid() {
			return from
		}
		from, hops = last, hops[:len(hops)-1]
	}
}

// plainHTTP says whether the proxy was reached by http.
func plainHTTP(proto []string) bool {
	all := strings.ToLower(strings.Join(proto, ","))
	return strings.Contains(all, "http") && !strings.Contains(all, "https")
}

// refusePlain sends who reads to https, and refuses who would act: what they sent has been seen on the way.
func refusePlain(w http.ResponseWriter, r *http.Request, publicURL string) {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		http.Redirect(w, r, publicURL, http.StatusPermanentRedirect)
		return
	}
	http.Error(w, "This hub is reached by https alone: "+publicURL, http.StatusForbidden)
}

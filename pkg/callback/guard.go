package callback

import (
	"errors"
	"net/netip"

	"code.dny.dev/ssrf"
)

// errAddress is the error of dialling an address that a hub must not call.
var errAddress = errors.New("a special-purpose address")

// addressRule is one reason for which an address must not be called (spec §9.4).
type addressRule struct {
	name    string
	forbids func(netip.Addr) bool
}

// addressRules are all of the IANA special-purpose registries, multicast, every IPv6 address outside the global unicast
// range or with a zone or in a range that leads to IPv4 addresses (mapped, NAT64, 6to4, Teredo), whichever address it leads
// to, and what only a cloud knows. The options change the library's rules, for tests.
func addressRules(options ...ssrf.Option) []addressRule {
	guardian := ssrf.New(append([]ssrf.Option{ssrf.WithAnyPort()}, options...)...)
	return []addressRule{
		{"special-purpose", func(a netip.Addr) bool { return guardian.SafeAddr(a) != nil }},
		{"service of a cloud", isCloudService},
	}
}

// isCloudService says whether no registry calls an address special, and yet it is only reachable from inside a cloud.
func isCloudService(a netip.Addr) bool {
	return a == netip.AddrFrom4([4]byte{168, 63, 129, 16}) // the metadata and agent service of Azure
}

// forbidden says whether an address must not be called.
func forbidden(rules []addressRule, a netip.Addr) bool {
	for _, r := range rules {
		if r.forbids(a) {
			return true
		}
	}
	return false
}

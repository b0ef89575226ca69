package callback

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"syscall"

	"code.dny.dev/ssrf"
)

// errAddress is the error of dialling an address that a hub must not call.
var errAddress = errors.New("a special-purpose address")

// alsoSpecial lists what no registry calls special but what is only reachable from inside a cloud.
func alsoSpecial() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("168.63.129.16/32"), // the metadata and agent service of Azure
	}
}

// isSpecial says whether an address must not be called (spec §9.4): all of the IANA special-purpose registries, multicast,
// and every IPv6 address outside the global unicast range or in a range that leads to IPv4 addresses (mapped, NAT64,
// 6to4, Teredo), whichever address it leads to.
func isSpecial(addr netip.Addr) bool {
	return addr.Zone() != "" || newGuardian().SafeAddr(addr) != nil
}

func newGuardian() *ssrf.Guardian {
	return ssrf.New(ssrf.WithAnyPort(), ssrf.WithDeniedV4Prefixes(alsoSpecial()...))
}

// control is called with each address that is about to be dialled, after the name was resolved: nothing that DNS may say
// a moment later matters any more.
func control(_ context.Context, network, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || network != "tcp4" && network != "tcp6" {
		return fmt.Errorf("dial %s: %w", network, errAddress)
	}
	if isSpecial(at.Addr()) {
		return fmt.Errorf("dial %s: %w", at.Addr(), errAddress)
	}
	return nil
}

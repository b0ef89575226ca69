package callback

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"
)

// dialer makes the connections of an attempt. A name is resolved once, and what is then connected to is one of the very
// addresses that were checked: nothing that DNS may say a moment later matters any more.
type dialer struct {
	resolver *net.Resolver
	rules    []addressRule // none for destinations that are allowed by name
	connect  func(ctx context.Context, network, address string) (net.Conn, error)
}

// dial is the DialContext of a transport.
func (d *dialer) dial(ctx context.Context, _, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("dial: %w", err)
	}
	found, err := d.lookUp(ctx, host)
	if err != nil {
		return nil, fmt.Errorf("dial: %w", err)
	}
	allowed := slices.DeleteFunc(found, func(a netip.Addr) bool { return forbidden(d.rules, a) })
	if len(allowed) == 0 {
		return nil, fmt.Errorf("dial: %w", errAddress)
	}
	return d.connectAny(ctx, allowed, port)
}

// lookUp returns the addresses of a host. To a guarded one its name is whole: no search list of this machine completes it.
func (d *dialer) lookUp(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, nil
	}
	if len(d.rules) > 0 {
		host += "."
	}
	found, err := d.resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	for i, a := range found {
		found[i] = a.Unmap() // from DNS, ::ffff:8.8.8.8 is no other address than 8.8.8.8
	}
	return found, nil
}

// connectAny connects to the first address that lets it, those of IPv4 before the others, since they work nearly
// everywhere. Each has its share of the time that is left.
func (d *dialer) connectAny(ctx context.Context, addrs []netip.Addr, port string) (net.Conn, error) {
	slices.SortStableFunc(addrs, func(x, y netip.Addr) int { return x.BitLen() - y.BitLen() })
	var failed []error
	for i, a := range addrs {
		deadline, _ := ctx.Deadline()
		share, cancel := context.WithTimeout(ctx, time.Until(deadline)/time.Duration(len(addrs)-i))
		conn, err := d.connect(share, "tcp", net.JoinHostPort(a.String(), port))
		cancel()
		if err == nil {
			return conn, nil
		}
		failed = append(failed, err)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, errors.Join(failed...)
}

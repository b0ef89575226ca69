package inbox

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

// doors bounds how often strangers at one address may try a password or an invitation in this process, whatever the name: a
// bucket of tries that fills by and by. An address may be that of many, so no stranger there uses up what the others need: a
// browser that its person was signed in in before, and an invitation that is open, need no try. What bounds the tries at one
// name is the hub's, and holds across processes.
type doors struct {
	mu      sync.Mutex
	buckets map[netip.Prefix]*doorBucket
}

type doorBucket struct {
	tries    float64
	filledAt time.Time
}

const (
	doorBurst   = 20
	doorEvery   = 6 * time.Second // for one more try
	maxDoors    = 10_000          // addresses that are remembered; beyond it everyone begins anew
	doorSegment = 64              // of an IPv6 address, of which one household has as many as it likes
)

func newDoors() *doors { return &doors{buckets: map[netip.Prefix]*doorBucket{}} }

// take uses up one try of an address, or says how long to wait for one.
func (d *doors) take(address netip.Addr, now time.Time) (wait time.Duration, ok bool) {
	bits := address.BitLen()
	if address.Is6() {
		bits = doorSegment
	}
	key, err := address.Prefix(bits)
	if err != nil {
		return 0, true // an address that nobody knows, as in a test
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	b := d.buckets[key]
	if b == nil {
		if len(d.buckets) >= maxDoors {
			clear(d.buckets)
		}
		b = &doorBucket{tries: doorBurst, filledAt: now}
		d.buckets[key] = b
	}
	b.tries = min(b.tries+max(now.Sub(b.filledAt).Seconds(), 0)/doorEvery.Seconds(), doorBurst)
	b.filledAt = now
	if b.tries < 1 {
		return time.Duration((1 - b.tries) * float64(doorEvery)), false
	}
	b.tries--
	return 0, true
}

// address is whom the request comes from, as far as the server can tell.
func (v *visit) address() netip.Addr {
	host, _, err := net.SplitHostPort(v.r.RemoteAddr)
	if err != nil {
		host = v.r.RemoteAddr
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Addr{}
	}
	return address.Unmap().WithZone("")
}

package hubtest

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
)

// special lists an address of every range that a hub must not call, most of them the first and the last one: the IANA
// special-purpose registries, multicast, and what leads from IPv6 to IPv4 (spec §9.4).
func special() []string {
	return []string{
		"0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.100.100.200", "100.127.255.255",
		"127.0.0.1", "127.255.255.255", "169.254.0.0", "169.254.169.254", "169.254.170.2", "169.254.255.255",
		"172.16.0.0", "172.31.255.255", "192.0.0.0", "192.0.0.8", "192.0.0.170", "192.0.0.192", "192.0.0.255", "192.0.2.1",
		"192.31.196.1", "192.52.193.1", "192.88.99.1", "192.88.99.2", "192.168.0.0", "192.168.255.255", "192.175.48.1",
		"198.18.0.0", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1",
		"255.255.255.255",
		"::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", mapped, "::ffff:0:8.8.8.8",
		"64:ff9b::7f00:1", "64:ff9b::8.8.8.8", "64:ff9b:1::1", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff",
		"100::1", "100:0:0:1::1", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:1::1", "2001:1::2", "2001:1::3",
		"2001:2::1", "2001:3::1", "2001:4:112::1", "2001:10::1", "2001:20::1", "2001:30::1", "2001:1ff:ffff::1",
		"2001:db8::1", "2002::1", "2002:7f00:1::1", "2002:808:808::1", "2620:4f:8000::1", "3fff::1", "3fff:fff::1",
		"4000::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fdff::1", "fe80::1", "fe80::a9fe:a9fe", "febf::1", "fec0::1",
		"ff02::1", "ff0e::1",
	}
}

// mapped is special in a URL only: from DNS it is no other address than 8.8.8.8, a public one.
const mapped = "::ffff:8.8.8.8"

// public lists neighbours of those ranges, and others that everybody reaches.
func public() []string {
	return []string{"1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
		"172.15.255.255", "172.32.0.0", "192.0.1.0", "198.17.255.255", "198.20.0.0", "223.255.255.255",
		"2001:200::1", "2606:4700::1111", "2a00:1450::1", "2003::1"}
}

// urlTo returns a URL of an address.
func urlTo(addr string) string {
	if strings.Contains(addr, ":") {
		addr = "[" + addr + "]"
	}
	return "https://" + addr + "/x"
}

// The kinds of record that a DNS is asked for.
const (
	KindA    = 1
	KindTXT  = 16
	KindAAAA = 28
)

// DNS says what the records of a kind are that a name has: addresses, or texts. The name has no dot at its end.
type DNS func(kind int, name string) []string

// ResolverTo returns a resolver for which every name has just the given addresses. Without addresses no name is known.
func ResolverTo(addrs ...string) *net.Resolver {
	return DNS(func(int, string) []string { return addrs }).Resolver()
}

// Resolver returns a resolver that asks a DNS: a server in a pipe.
func (d DNS) Resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		near, far := net.Pipe()
		go d.serve(far)
		context.AfterFunc(ctx, func() { far.Close() }) //nolint:errcheck // a pipe
		return near, nil
	}}
}

// serve answers one query. A net.Pipe is no packet connection, so messages come with their length (RFC 1035 §4.2.2).
func (d DNS) serve(conn net.Conn) {
	defer conn.Close() //nolint:errcheck // a pipe
	var size [2]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return
	}
	query := make([]byte, binary.BigEndian.Uint16(size[:]))
	if _, err := io.ReadFull(conn, query); err != nil {
		return
	}
	answer := d.answer(query)
	binary.BigEndian.PutUint16(size[:], uint16(len(answer)))
	_, _ = conn.Write(append(size[:], answer...)) // who asked may have gone
}

// answer answers a query with those of the records that are of the kind asked for.
func (d DNS) answer(query []byte) []byte {
	const header = 12 // bytes; the question follows: the name, its kind and its class
	end, labels := header, []string{}
	for query[end] != 0 {
		n := int(query[end])
		labels = append(labels, string(query[end+1:end+1+n]))
		end += n + 1
	}
	kind := int(binary.BigEndian.Uint16(query[end+1:]))
	answer := append([]byte{query[0], query[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, query[header:end+5]...)
	for _, r := range d(kind, strings.Join(labels, ".")) {
		data := dataOf(kind, r)
		if data == nil {
			continue
		}
		answer[7]++
		answer = append(answer, 0xc0, header, 0, byte(kind), 0, 1, 0, 0, 0, 0)
		answer = binary.BigEndian.AppendUint16(answer, uint16(len(data)))
		answer = append(answer, data...)
	}
	return answer
}

// dataOf is a record on the wire; nil for one of another kind.
func dataOf(kind int, r string) []byte {
	if kind == KindTXT {
		data := []byte{}
		for chunk := range slices.Chunk([]byte(r), 255) {
			data = append(append(data, byte(len(chunk))), chunk...)
		}
		return data
	}
	addr, err := netip.ParseAddr(r)
	if err != nil || addr.Is4() != (kind == KindA) || addr.Is4() == (kind == KindAAAA) {
		return nil
	}
	return addr.AsSlice()
}

package callback_test

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/callback"
	"github.com/mash-hub/mash/pkg/hub"
)

// special lists an address of every range that must not be called, most of them the first and the last one: the IANA
// special-purpose registries, multicast, and what leads from IPv6 to IPv4.
func special() []string {
	return []string{
		"0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.100.100.200", "100.127.255.255",
		"127.0.0.1", "127.255.255.255", "168.63.129.16", "169.254.0.0", "169.254.169.254", "169.254.170.2", "169.254.255.255",
		"172.16.0.0", "172.31.255.255", "192.0.0.0", "192.0.0.8", "192.0.0.170", "192.0.0.192", "192.0.0.255", "192.0.2.1",
		"192.31.196.1", "192.52.193.1", "192.88.99.1", "192.88.99.2", "192.168.0.0", "192.168.255.255", "192.175.48.1",
		"198.18.0.0", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1",
		"255.255.255.255",
		"::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:8.8.8.8", "::ffff:0:8.8.8.8",
		"64:ff9b::7f00:1", "64:ff9b::8.8.8.8", "64:ff9b:1::1", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff",
		"100::1", "100:0:0:1::1", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:1::1", "2001:1::2", "2001:1::3",
		"2001:2::1", "2001:3::1", "2001:4:112::1", "2001:10::1", "2001:20::1", "2001:30::1", "2001:1ff:ffff::1",
		"2001:db8::1", "2002::1", "2002:7f00:1::1", "2002:808:808::1", "2620:4f:8000::1", "3fff::1", "3fff:fff::1",
		"4000::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fdff::1", "fe80::1", "fe80::a9fe:a9fe", "febf::1", "fec0::1",
		"ff02::1", "ff0e::1",
	}
}

func public() []string {
	return []string{"1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
		"172.15.255.255", "172.32.0.0", "192.0.1.0", "198.17.255.255", "198.20.0.0", "223.255.255.255",
		"2001:200::1", "2606:4700::1111", "2a00:1450::1", "2003::1"}
}

func bracketed(addr string) string {
	if strings.Contains(addr, ":") {
		return "[" + addr + "]"
	}
	return addr
}

func TestB79_SpecialAddressesAreRefusedAtOnce(t *testing.T) {
	t.Parallel()
	p := newPusher(t, callback.Config{})
	for _, addr := range special() {
		for _, url := range []string{"https://" + bracketed(addr), "https://" + bracketed(addr) + ":8443/x"} {
			if err := p.Check(url); err == nil {
				t.Errorf("Check(%s) = nil, want a refusal", url)
			}
		}
	}
	for _, addr := range public() {
		if err := p.Check("https://" + bracketed(addr) + "/x"); err != nil {
			t.Errorf("Check(https://%s/x) = %v, want nil", bracketed(addr), err)
		}
	}
}

func TestB79_ANameThatLeadsToASpecialAddressIsRefusedAsItIsDialled(t *testing.T) {
	t.Parallel()
	for _, addr := range special() {
		if addr == "::ffff:8.8.8.8" {
			continue // from DNS this is no other address than 8.8.8.8, a public one
		}
		p := newPusher(t, callback.Config{Resolver: resolverTo(t, addr), Timeout: 5 * time.Second})
		if err := p.Check("https://callback.example/"); err != nil {
			t.Fatalf("Check = %v, want nil", err)
		}
		if got := push(t, p, "https://callback.example/"); got != (hub.PushResult{Failure: hub.FailureRefused}) {
			t.Errorf("Push to a name of %s = %+v, want %s", addr, got, hub.FailureRefused)
		}
	}
}

func TestB79_ARebindingNameReachesNobody(t *testing.T) {
	t.Parallel()
	called := make(chan struct{}, 1)
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called <- struct{}{} }))
	t.Cleanup(server.Close)
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	p := newPusher(t, callback.Config{Resolver: resolverTo(t, "127.0.0.1"), Timeout: 5 * time.Second})
	if got := push(t, p, "https://callback.example:"+port+"/"); got != (hub.PushResult{Failure: hub.FailureRefused}) {
		t.Errorf("Push = %+v, want %s", got, hub.FailureRefused)
	}
	select {
	case <-called:
		t.Error("the server on loopback was called")
	default:
	}
}

func TestANameThatIsNotKnownIsANetworkFailure(t *testing.T) {
	t.Parallel()
	p := newPusher(t, callback.Config{Resolver: resolverTo(t), Timeout: 5 * time.Second})
	if got := push(t, p, "https://callback.example/"); got != (hub.PushResult{Failure: hub.FailureNetwork}) {
		t.Errorf("Push = %+v, want %s", got, hub.FailureNetwork)
	}
}

func TestB79_AURLThatCouldMeanAnotherPlaceIsRefused(t *testing.T) {
	t.Parallel()
	p := newPusher(t, callback.Config{})
	for _, url := range []string{
		"", "/x", "x", "//callback.example/x", "https:", "https://", "https:///x", "https:callback.example",
		"http://callback.example/", "ftp://callback.example/", "file:///etc/passwd", "gopher://callback.example/", "javascript:x",
		"https://user@callback.example/", "https://user:pass@callback.example/", "https://@callback.example/",
		"https://callback.example@127.0.0.1/", `https://callback.example\@127.0.0.1/`, `https://callback.example\.evil/`,
		"https://callback.example#@127.0.0.1/", "https://callback.example/#x", "https://callback.example/#",
		"https://callback.example:0/", "https://callback.example:65536/", "https://callback.example:x/", "https://callback.example:/",
		"https://callback.example:0443/", "https://callback.example:443:443/",
		"https://localhost/", "https://LOCALHOST./", "https://a.localhost/", "https://127.0.0.1./", "https://127.0.0.1../",
		"https://2130706433/", "https://0x7f000001/", "https://0X7F000001/", "https://017700000001/", "https://0177.0.0.1/",
		"https://0x7f.0.0.1/", "https://127.1/", "https://127.0.1/", "https://0/", "https://00000000/", "https://0x/", "https://127.0.0.01/",
		"https://127.0.0.1.0x7f/", "https://1.2.3.4.5/", "https://256.256.256.256/", "https://./", "https://../",
		"https://１２７.0.0.1/", "https://127。0。0。1/", "https://ⓛocalhost/", "https://callback.exämple/",
		"https://%31%32%37.0.0.1/", "https://callback.example%00.evil/", "https://callback.example%2f.evil/",
		"https://[fe80::1%25eth0]/", "https://[2606:4700::1111%25eth0]/", "https://[::1", "https://[v1.x]/", "https://[127.0.0.1]/",
		"https://callback .example/", "https://callback.example/\r\nX: y", "https://callback.example/\x00",
		"https://callback.example/" + strings.Repeat("x", 2048),
	} {
		err := p.Check(url)
		var refusal callback.Refusal
		if !errors.As(err, &refusal) || !strings.HasSuffix(err.Error(), ".") {
			t.Errorf("Check(%q) = %v, want a sentence of refusal", url, err)
		}
		if got := push(t, p, url); got != (hub.PushResult{Failure: hub.FailureRefused}) {
			t.Errorf("Push(%q) = %+v, want %s", url, got, hub.FailureRefused)
		}
	}
	for _, url := range []string{
		"https://callback.example", "https://callback.example./x?y=z", "HTTPS://Callback.Example:8443/x%20y", "https://xn--bcher-kva.example/",
		"https://a_b.example/", "https://1.example/", "https://1.1.1.1:8443/", "https://[2606:4700::1111]/",
	} {
		if err := p.Check(url); err != nil {
			t.Errorf("Check(%q) = %v, want nil", url, err)
		}
	}
}

// resolverTo returns a resolver for which every name has just the given addresses: a DNS server in a pipe.
func resolverTo(t *testing.T, addrs ...string) *net.Resolver {
	t.Helper()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		near, far := net.Pipe()
		go serveDNS(far, addrs)
		context.AfterFunc(ctx, func() { far.Close() })
		return near, nil
	}}
}

// serveDNS answers one query. A net.Pipe is no packet connection, so messages come with their length (RFC 1035 §4.2.2).
func serveDNS(conn net.Conn, addrs []string) {
	defer conn.Close()
	var size [2]byte
	if _, err := conn.Read(size[:]); err != nil {
		return
	}
	query := make([]byte, binary.BigEndian.Uint16(size[:]))
	if _, err := conn.Read(query); err != nil {
		return
	}
	end := 12
	for query[end] != 0 {
		end += int(query[end]) + 1
	}
	kind := binary.BigEndian.Uint16(query[end+1:])
	answer := append([]byte{query[0], query[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, query[12:end+5]...)
	for _, a := range addrs {
		raw := netip.MustParseAddr(a).AsSlice()
		if len(raw) == 4 && kind == 1 || len(raw) == 16 && kind == 28 {
			answer[7]++
			answer = append(answer, 0xc0, 12, 0, byte(kind), 0, 1, 0, 0, 0, 0, 0, byte(len(raw)))
			answer = append(answer, raw...)
		}
	}
	binary.BigEndian.PutUint16(size[:], uint16(len(answer)))
	_, _ = conn.Write(append(size[:], answer...))
}

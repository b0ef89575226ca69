package callback_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"code.dny.dev/ssrf"

	"github.com/mash-hub/mash/pkg/callback"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/hub/hubtest"
)

// special4 and special6 are all prefixes of the IANA IPv4 and IPv6 Special-Purpose Address Registries as they were last
// updated on 2025-10-09, compared row by row on 2026-11-30.
var (
	special4 = []string{
		"0.0.0.0/8", "0.0.0.0/32", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
		"192.0.0.0/29", "192.0.0.8/32", "192.0.0.9/32", "192.0.0.10/32", "192.0.0.170/32", "192.0.0.171/32", "192.0.2.0/24",
		"192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.88.99.2/32", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15",
		"198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4", "255.255.255.255/32",
	}
	special6 = []string{
		"::1/128", "::/128", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64", "2001::/23", "2001::/32",
		"2001:1::1/128", "2001:1::2/128", "2001:1::3/128", "2001:2::/48", "2001:3::/32", "2001:4:112::/48", "2001:10::/28",
		"2001:20::/28", "2001:30::/28", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20", "5f00::/16", "fc00::/7",
		"fe80::/10",
	}
	// beyond is what the registries leave to others, and is refused all the same: multicast (RFC 5771, RFC 4291), site-local
	// and IPv4-compatible addresses (RFC 3879, RFC 4291), and what nobody has been given.
	beyond = []string{"224.0.0.0/4", "ff00::/8", "fec0::/10", "::/96", "4000::/3", "::ffff:0:0:0/96", "400::/6"}
)

// row is a URL, what DNS says, and what has to come of it.
type row struct {
	what   string
	url    string
	dns    func() hubtest.DNS
	want   hub.PushResult
	dialed []string // what the guard has let pass
}

var (
	refused = hub.PushResult{Failure: hub.FailureRefused}
	guarded = hub.PushResult{Failure: hub.FailureGuarded}
	taken   = hub.PushResult{Status: http.StatusOK}
)

const (
	honestURL = "https://callback.example/x"
	public    = "1.1.1.1"
	public6   = "2606:4700::1111"
)

// says is a DNS that gives every name these addresses.
func says(addrs ...string) func() hubtest.DNS {
	return func() hubtest.DNS { return func(int, string) []string { return addrs } }
}

// table is everything that the guard has to know: each prefix, as a literal and behind a name, and each trick.
func table() []row {
	rows := slices.Concat(tricksOfURLs(), tricksOfNames(), honestRows())
	for _, p := range slices.Concat(special4, special6, beyond) {
		addr := inside(p)
		literal := addr
		if strings.Contains(addr, ":") {
			literal = "[" + addr + "]"
		}
		rows = append(rows,
			row{"literal in " + p, "https://" + literal + "/x", says(public), refused, nil},
			row{"name in " + p, honestURL, says(addr), guarded, nil})
	}
	return rows
}

// inside returns an address of a prefix, which is not its first one where it has others. Behind a name, a mapped address
// is the one of IPv4, so that it has to be a special one itself.
func inside(prefix string) string {
	p := netip.MustParsePrefix(prefix)
	switch {
	case prefix == "::ffff:0:0/96":
		return "::ffff:127.0.0.1"
	case p.IsSingleIP():
		return p.Addr().String()
	}
	return p.Addr().Next().Next().String()
}

func tricksOfURLs() []row {
	var rows []row
	for what, hosts := range map[string][]string{
		"decimal":              {"2130706433", "3232235521", "0", "00000000"},
		"octal":                {"0177.0.0.1", "017700000001", "127.0.0.01", "0300.0250.0.1"},
		"hexadecimal":          {"0x7f000001", "0X7F000001", "0x7f.0.0.1", "127.0.0.0x1", "0x"},
		"short":                {"127.1", "127.0.1", "10.1", "192.168.1", "256.256.256.256", "1.2.3.4.5"},
		"IPv4-mapped":          {"[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:FFFF:169.254.169.254]", "[::ffff:8.8.8.8]"},
		"IPv4-compatible":      {"[::127.0.0.1]", "[::7f00:1]", "[::a9fe:a9fe]"},
		"NAT64":                {"[64:ff9b::7f00:1]", "[64:ff9b::169.254.169.254]", "[64:ff9b::8.8.8.8]", "[64:ff9b:1::7f00:1]"},
		"6to4":                 {"[2002:7f00:1::1]", "[2002:a9fe:a9fe::1]", "[2002:808:808::1]"},
		"Teredo":               {"[2001:0:4136:e378:8000:63bf:3fff:fdd2]", "[2001::1]"},
		"metadata":             {"169.254.169.254", "[fd00:ec2::254]", "100.100.100.200", "192.0.0.192", "168.63.129.16"},
		"user":                 {"callback.example@127.0.0.1", "127.0.0.1@callback.example", "user:pass@callback.example", "@callback.example"},
		"trailing dot":         {"callback.example.", "127.0.0.1.", "localhost.", "127.0.0.1.."},
		"localhost":            {"localhost", "LOCALHOST", "a.localhost"},
		"dots of other script": {"127。0。0。1", "127．0．0．1", "127｡0｡0｡1", "callback。example"},
		"letters of others":    {"１２７.0.0.1", "ⓛocalhost", "сallback.example", "bücher.example", "callback.example\u00ad"},
		"escapes":              {"%31%32%37.0.0.1", "callback.example%00.evil", "callback.example%2f.evil", "127.0.0.1%23.callback.example"},
		"zone":                 {"[fe80::1%25eth0]", "[2606:4700::1111%25eth0]", "[::1%251]"},
		"port":                 {"callback.example:0", "callback.example:65536", "callback.example:", "callback.example:0443", "callback.example:x"},
		"form":                 {"", "[::1", "[v1.x]", "[127.0.0.1]", "callback .example", `callback.example\@127.0.0.1`, "."},
		"fragment":             {"callback.example#@127.0.0.1"},
		"length":               {"callback.example/" + strings.Repeat("x", 2048)},
	} {
		for _, host := range hosts {
			rows = append(rows, row{what, "https://" + host + "/x", says(public), refused, nil})
		}
	}
	for _, url := range []string{"http://callback.example/", "ftp://callback.example/", "//callback.example/", "callback.example", "https:callback.example"} {
		rows = append(rows, row{"scheme", url, says(public), refused, nil})
	}
	return rows
}

// tricksOfNames are what DNS, the receiver and the surroundings may try.
func tricksOfNames() []row {
	return []row{
		{"name of the service of a cloud", honestURL, says("168.63.129.16"), guarded, nil},
		{"only special addresses", honestURL, says("10.0.0.1", "::1", "127.0.0.1"), guarded, nil},
		{"mixed, the special first", honestURL, says("10.0.0.1", public), taken, []string{public}},
		{"mixed, the special last", honestURL, says(public, "10.0.0.1"), taken, []string{public}},
		{"mixed, of two kinds", honestURL, says("10.0.0.1", public6), taken, []string{public6}},
		{"mixed, and the public one does not answer", honestURL, says(silent, "10.0.0.1"),
			hub.PushResult{Failure: hub.FailureTimeout}, []string{silent}},
		{"rebinding", honestURL, rebinding, taken, []string{public}},
		{"redirect", "https://callback.example/redirect", says(public), hub.PushResult{Status: http.StatusFound}, []string{public}},
		{"proxy of the environment", "https://proxied.callback.example/", says(public), taken, []string{public}},
	}
}

// rebinding is a DNS that gives a public address to the first question, and afterwards this machine.
func rebinding() hubtest.DNS {
	var asked atomic.Int32
	return func(kind int, _ string) []string {
		if kind == hubtest.KindA && asked.Add(1) > 1 {
			return []string{"127.0.0.1"}
		}
		return []string{public}
	}
}

// honestRows are what is served after the guard has let it pass, neighbours of the special prefixes among them.
func honestRows() []row {
	rows := []row{
		{"honest", honestURL, says(public), taken, []string{public}},
		{"honest over IPv6", honestURL, says(public6), taken, []string{public6}},
		{"honest at another port", "https://callback.example:8443/x?y=z", says(public), taken, []string{public}},
		{"honest, in capitals", "HTTPS://Callback.Example/", says(public), taken, []string{public}},
		{"honest, of an international name", "https://xn--bcher-kva.example/", says(public), taken, []string{public}},
		{"mapped by DNS", honestURL, says("::ffff:8.8.8.8"), taken, []string{"8.8.8.8"}},
	}
	for _, addr := range []string{
		"9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0", "172.15.255.255", "172.32.0.0",
		"192.0.1.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "2001:200::1", "2003::1", "2a00:1450::1",
	} {
		rows = append(rows, row{"honest neighbour", honestURL, says(addr), taken, []string{addr}})
	}
	return rows
}

// failed says how a row fails for a Pusher that was changed, or nothing.
func (r row) failed(t *testing.T, h *honest, change func(*callback.Pusher)) string {
	t.Helper()
	p := newPusher(t, callback.Config{Resolver: r.dns().Resolver(), RootCAs: theAuthority().pool})
	p.Below(h.connect)
	if change != nil {
		change(p)
	}
	h.take()
	got := push(t, p, r.url)
	p.Close()
	if dialed := h.take(); got != r.want || !slices.Equal(dialed, r.dialed) {
		return fmt.Sprintf("%s: Push(%.80q) = %+v, dialled %v, want %+v, %v", r.what, r.url, got, dialed, r.want, r.dialed)
	}
	if refusal := p.Check(r.url); change == nil && (refusal != nil) != (r.want == refused) {
		return fmt.Sprintf("%s: Check(%.80q) = %v, and a push is %+v", r.what, r.url, refusal, got)
	}
	return ""
}

func TestB79_TheGuardKnowsEveryPrefixAndTrick(t *testing.T) {
	t.Parallel()
	h := newHonest(t)
	for _, r := range table() {
		if failed := r.failed(t, h, nil); failed != "" {
			t.Error(failed)
		}
	}
}

// TestB79_NoRuleOfTheGuardIsIdle takes away one rule at a time, upon which a row has to fail.
func TestB79_NoRuleOfTheGuardIsIdle(t *testing.T) {
	t.Parallel()
	h, rows := newHonest(t), table()
	for name, mutate := range callback.Mutations() {
		if !slices.ContainsFunc(rows, func(r row) bool { return r.failed(t, h, mutate) != "" }) {
			t.Errorf("without the rule %q no row of the table fails", name)
		}
	}
}

// TestB79_TheTableIsAsLongAsTheLibrarys holds the table against what the guard library refuses, both ways.
func TestB79_TheTableIsAsLongAsTheLibrarys(t *testing.T) {
	t.Parallel()
	ours := prefixes(slices.Concat(special4, special6, beyond))
	library := slices.Concat(ssrf.IPv4DeniedPrefixes, ssrf.IPv6DeniedPrefixes)
	for _, p := range library {
		if !covered(p, ours) {
			t.Errorf("the library refuses %s, which is in no row", p)
		}
	}
	for _, p := range ours {
		if outside := p.Addr().Is6() && !ssrf.IPv6GlobalUnicast.Overlaps(p); !outside && !covered(p, library) {
			t.Errorf("the library does not refuse %s", p)
		}
	}
	if ssrf.IPv6GlobalUnicast.String() != "2000::/3" {
		t.Errorf("the library takes %s for the public addresses of IPv6", ssrf.IPv6GlobalUnicast)
	}
}

func prefixes(texts []string) []netip.Prefix {
	var out []netip.Prefix
	for _, s := range texts {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

// covered says whether one of the prefixes has all addresses of p.
func covered(p netip.Prefix, by []netip.Prefix) bool {
	return slices.ContainsFunc(by, func(q netip.Prefix) bool { return q.Bits() <= p.Bits() && q.Contains(p.Addr()) })
}

// FuzzNoURLLeadsInside: whatever a URL is, nothing but a public address is ever dialled for it.
func FuzzNoURLLeadsInside(f *testing.F) {
	for _, r := range table() {
		f.Add(r.url)
	}
	f.Fuzz(func(t *testing.T, url string) {
		h := &honest{address: "127.0.0.1:1"}
		p := newPusher(t, callback.Config{Resolver: hubtest.ResolverTo("10.0.0.1", "::1", "fd00::1")})
		p.Below(h.connect)
		got := push(t, p, url)
		p.Close()
		for _, host := range h.take() {
			addr, err := netip.ParseAddr(host)
			if err != nil || covered(netip.PrefixFrom(addr, addr.BitLen()), prefixes(slices.Concat(special4, special6, beyond))) {
				t.Errorf("Push(%q) = %+v dialled %s", url, got, host)
			}
		}
	})
}

// FuzzAFileIsAProofByAWholeLine: what is no line of the file by itself is no proof, nor what does not end within the part that
// is read. A filling between two texts takes the file to that end and beyond it.
func FuzzAFileIsAProofByAWholeLine(f *testing.F) {
	const line = "mash-callback=abc"
	for _, text := range []string{"", line, line + "\n", "x\r\n" + line + "\r\n", "x" + line, line + "x", "\x00"} {
		f.Add([]byte(text), byte('y'), 0, []byte{})
		for near := -len(line) - 3; near <= 3; near++ {
			f.Add([]byte{}, byte('\n'), callback.MaxProof+near, []byte(text))
			f.Add([]byte(text), byte('y'), callback.MaxProof-len(text)+near, []byte("\n"+line))
		}
	}
	f.Fuzz(func(t *testing.T, before []byte, fill byte, filled int, after []byte) {
		filling := bytes.Repeat([]byte{fill}, min(max(filled, 0), 2*callback.MaxProof))
		file := slices.Concat(before, filling, after)
		want, at := false, 0
		for l := range strings.SplitSeq(string(file), "\n") {
			at += len(l) + 1 // behind the end of the line
			want = want || strings.TrimSpace(l) == line && (at <= callback.MaxProof || len(file) <= callback.MaxProof)
		}
		read := file[:min(len(file), callback.MaxProof+1)]
		if got := callback.HasLine(read, line); got != want || callback.HasLine(file, line) != want || callback.HasLine(read, "") {
			t.Errorf("HasLine(%q, %d times %q, %q) = %t, want %t", before, len(filling), fill, after, got, want)
		}
	})
}

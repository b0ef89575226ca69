package hubtest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
)

// Prover holds a Prover to its contract.
func Prover(t *testing.T, newProver func(t *testing.T, n Network) hub.Prover) {
	p := proverSuite{newProver}
	for name, test := range map[string]func(*testing.T){
		"a host has one form":                            p.hosts,
		"what is no host is refused in a sentence":       p.noHosts,
		"only what the operator names is vouched for":    p.vouched,
		"a line of the file is a proof":                  p.file,
		"a file is not looked for where a redirect says": p.redirect,
		"a file of no end is not read for ever":          p.endless,
		"a TXT record is a proof":                        p.text,
		"no look goes to a special-purpose address":      p.special,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}

type proverSuite struct {
	newProver func(*testing.T, Network) hub.Prover
}

// line is what a host has to show.
const line = "mash-callback=abc123"

// serving returns a Prover, and a host at which it finds a handler.
func (s proverSuite) serving(t *testing.T, handler http.HandlerFunc) (hub.Prover, string) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	host := server.Listener.Addr().String()
	return s.newProver(t, Network{Allow: host}), host
}

func (s proverSuite) hosts(t *testing.T) {
	p := s.newProver(t, Network{})
	for typed, want := range map[string]string{
		"callback.example":        "callback.example",
		" Callback.Example ":      "callback.example",
		"callback.example:443":    "callback.example",
		"callback.example:8443":   "callback.example:8443",
		"bücher.example":          "xn--bcher-kva.example",
		"BÜCHER.example:8443":     "xn--bcher-kva.example:8443",
		"xn--bcher-kva.example":   "xn--bcher-kva.example",
		"a_b.example":             "a_b.example",
		"1.1.1.1":                 "1.1.1.1",
		"[2606:4700:0::1111]":     "[2606:4700::1111]",
		"[2606:4700::1111]:8443":  "[2606:4700::1111]:8443",
		"[2606:4700::1111]:443":   "[2606:4700::1111]",
		"ⓒallback.example":        "callback.example", // as every browser reads it
		"callback.example:08443 ": "",
	} {
		got, err := p.Host(typed)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("Host(%q) = %q, %v, want %q", typed, got, err, want)
		}
		if want == "" {
			continue
		}
		// The same host stands in the URL of a callback.
		if again, ok := hub.HostOf("https://" + want + "/x?y"); !ok || again != want {
			t.Errorf("the host of a URL with %s = %q, %t", want, again, ok)
		}
	}
}

func (s proverSuite) noHosts(t *testing.T) {
	p := s.newProver(t, Network{})
	for _, typed := range append(special(),
		"", " ", "https://callback.example", "callback.example/x", "user@callback.example", "callback.example?x", "callback.example#x",
		"callback.example.", "localhost", "a.localhost", "127.1", "2130706433", "0x7f000001", "callback.example:0", "callback.example:",
		"callback.example:65536", "callback.example:x", "a b.example", "callback。example", "127．0．0．1", "１２７.0.0.1", "a..example\u200b",
		"[::1", "%31.example", "callback.example\x00", strings.Repeat("a", 3000),
	) {
		if strings.Count(typed, ":") > 1 && !strings.HasPrefix(typed, "[") {
			typed = "[" + typed + "]"
		}
		got, err := p.Host(typed)
		if err == nil || !strings.HasSuffix(err.Error(), ".") {
			t.Errorf("Host(%.50q) = %q, %v, want a sentence", typed, got, err)
		}
	}
}

func (s proverSuite) vouched(t *testing.T) {
	p := s.newProver(t, Network{Allow: "127.0.0.1:8443"})
	for url, want := range map[string]bool{
		"https://127.0.0.1:8443/x": true, "http://127.0.0.1:8443/x": true,
		"https://127.0.0.1/x": false, "https://127.0.0.1:8444/x": false, "https://callback.example:8443/": false, "nonsense": false,
	} {
		if got := p.Vouched(url); got != want {
			t.Errorf("Vouched(%s) = %t, want %t", url, got, want)
		}
	}
}

func (s proverSuite) file(t *testing.T) {
	for body, want := range map[string]bool{
		line: true, line + "\n": true, "# ours\r\n" + line + "\r\n": true, "  " + line + "\t\n": true,
		"": false, "x" + line: false, line + "x": false, strings.ToUpper(line): false, "<p>" + line + "</p>": false,
		"mash-callback=abc12\n3": false,
	} {
		p, host := s.serving(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet && r.URL.Path == hub.WellKnownPath {
				fmt.Fprint(w, body)
			}
		})
		got := p.Prove(t.Context(), host, hub.ProofWellKnown, line)
		if got != (hub.Proven{Shown: want, Status: http.StatusOK}) {
			t.Errorf("Prove by the file %q = %+v, want %t", body, got, want)
		}
	}
	p, host := s.serving(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintln(w, line)
	})
	if got := p.Prove(t.Context(), host, hub.ProofWellKnown, line); got != (hub.Proven{Status: http.StatusNotFound}) {
		t.Errorf("Prove by a page of an error = %+v, want its status", got)
	}
	if got := p.Prove(t.Context(), host, hub.ProofPerson, line); got.Shown {
		t.Errorf("Prove by hearsay = %+v, want nothing shown", got)
	}
}

func (s proverSuite) redirect(t *testing.T) {
	var calls atomic.Int32
	p, host := s.serving(t, func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		if r.URL.Path == hub.WellKnownPath {
			http.Redirect(w, r, "/there", http.StatusFound)
			return
		}
		fmt.Fprintln(w, line)
	})
	got := p.Prove(t.Context(), host, hub.ProofWellKnown, line)
	if got != (hub.Proven{Status: http.StatusFound}) || calls.Load() > 1 {
		t.Errorf("Prove by a redirect = %+v after %d calls, want its status after 1", got, calls.Load())
	}
}

func (s proverSuite) endless(t *testing.T) {
	long := strings.Repeat("x", 1<<10) + "\n"
	p, host := s.serving(t, func(w http.ResponseWriter, r *http.Request) {
		for n := 0; n < 1<<30 && r.Context().Err() == nil; n += len(long) {
			if _, err := fmt.Fprint(w, long); err != nil {
				return
			}
		}
		fmt.Fprintln(w, line)
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if got := p.Prove(ctx, host, hub.ProofWellKnown, line); got.Shown || ctx.Err() != nil {
		t.Errorf("Prove by an endless file = %+v, want nothing shown", got)
	}
	p, host = s.serving(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if got := p.Prove(ctx, host, hub.ProofWellKnown, line); got != (hub.Proven{Failure: hub.FailureTimeout}) {
		t.Errorf("Prove by a file that does not come = %+v, want a timeout", got)
	}
}

func (s proverSuite) text(t *testing.T) {
	dns := DNS(func(kind int, name string) []string {
		if kind != KindTXT {
			return nil
		}
		return map[string][]string{
			"_mash-callback.a.example": {"v=spf1 -all", " " + line},
			"_mash-callback.b.example": {line + "x", strings.ToUpper(line), strings.Repeat("x", 600) + line},
			"c.example":                {line},
		}[name]
	})
	p := s.newProver(t, Network{Resolver: dns.Resolver()})
	for host, want := range map[string]hub.Proven{
		"a.example": {Shown: true}, "a.example:8443": {Shown: true}, "b.example": {},
		"c.example": {Failure: hub.FailureDNS}, // of the name itself
		"1.1.1.1":   {Failure: hub.FailureRefused}, "[2606:4700::1111]:8443": {Failure: hub.FailureRefused},
	} {
		if got := p.Prove(t.Context(), host, hub.ProofDNS, line); got != want {
			t.Errorf("Prove by the TXT records of %s = %+v, want %+v", host, got, want)
		}
	}
}

func (s proverSuite) special(t *testing.T) {
	p := s.newProver(t, Network{Resolver: ResolverTo("127.0.0.1")})
	for host, want := range map[string]hub.Proven{
		"callback.example": {Failure: hub.FailureGuarded}, "127.0.0.1": {Failure: hub.FailureRefused}, "localhost": {Failure: hub.FailureRefused},
	} {
		if got := p.Prove(t.Context(), host, hub.ProofWellKnown, line); got != want {
			t.Errorf("Prove by the file of %s = %+v, want %+v", host, got, want)
		}
	}
}

package callback_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/mash-hub/mash/pkg/callback"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/hub/hubtest"
)

// TestB79_ThePusherKeepsItsContract is not parallel, for the suite changes the environment.
func TestB79_ThePusherKeepsItsContract(t *testing.T) {
	hubtest.Pusher(t, func(t *testing.T, n hubtest.Network) hub.Pusher {
		t.Helper()
		c := callback.Config{Resolver: n.Resolver}
		if n.Allow != "" {
			c.Allow = []string{n.Allow}
		}
		return newPusher(t, c)
	})
}

func TestB79_TheProverKeepsItsContract(t *testing.T) {
	t.Parallel()
	hubtest.Prover(t, func(t *testing.T, n hubtest.Network) hub.Prover {
		t.Helper()
		c := callback.Config{Resolver: n.Resolver}
		if n.Allow != "" {
			c.Allow = []string{n.Allow}
		}
		return newPusher(t, c)
	})
}

// TestB79_TheServiceOfACloudIsRefused is about an address that no registry calls special.
func TestB79_TheServiceOfACloudIsRefused(t *testing.T) {
	t.Parallel()
	const agent = "168.63.129.16"
	if err := newPusher(t, callback.Config{}).Check("https://" + agent + "/metadata"); err == nil {
		t.Errorf("Check of %s = nil, want a refusal", agent)
	}
	p := newPusher(t, callback.Config{Resolver: hubtest.ResolverTo(agent)})
	if got := push(t, p, "https://callback.example/"); got != (hub.PushResult{Failure: hub.FailureGuarded}) {
		t.Errorf("Push to a name of %s = %+v, want %s", agent, got, hub.FailureGuarded)
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
		"https://callback.example./x", "https://localhost/", "https://LOCALHOST./", "https://a.localhost/", "https://127.0.0.1./", "https://127.0.0.1../",
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
		"https://callback.example", "https://callback.example/x?y=z", "HTTPS://Callback.Example:8443/x%20y", "https://xn--bcher-kva.example/",
		"https://a_b.example/", "https://1.example/", "https://1.1.1.1:8443/", "https://[2606:4700::1111]/",
	} {
		if err := p.Check(url); err != nil {
			t.Errorf("Check(%q) = %v, want nil", url, err)
		}
	}
}

package hub_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// lookout is a Prover for which hosts show what they are told to show.
type lookout struct {
	shows   map[string]hub.Proven // by proof and host
	vouched string
	line    string // the last one that was looked for
}

func (l *lookout) Host(host string) (string, error) {
	if strings.ContainsAny(host, "/ ") {
		return "", errors.New("This is no host.") //nolint:revive // a sentence for people
	}
	return strings.ToLower(host), nil
}

func (l *lookout) Vouched(url string) bool {
	return l.vouched != "" && strings.HasPrefix(url, l.vouched)
}

func (l *lookout) Prove(_ context.Context, host string, proof hub.Proof, line string) hub.Proven {
	l.line = line
	return l.shows[string(proof)+" "+host]
}

func provingDesk(t *testing.T, shows map[string]hub.Proven) (*desk, *lookout) {
	d, l := newDesk(t), &lookout{shows: shows}
	d.Prover = l
	d.at(noon)
	return d, l
}

func (d *desk) detail(t *testing.T) *hub.AgentDetail {
	t.Helper()
	got, err := d.AgentDetail(t.Context(), d.owner, "bot")
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestAHostIsBoundByWhatItShows(t *testing.T) {
	t.Parallel()
	d, l := provingDesk(t, map[string]hub.Proven{
		"well-known a.example":      {Shown: true, Status: 200},
		"dns b.example:8443":        {Shown: true},
		"well-known other.example":  {Status: 200},
		"well-known none.example":   {Status: 404},
		"well-known inside.example": {Failure: hub.FailureGuarded},
		"well-known down.example":   {Failure: hub.FailureConnect},
		"dns none.example":          {Failure: hub.FailureDNS},
		"dns other.example":         {},
		"dns 192.0.2.1":             {Failure: hub.FailureRefused},
	})
	for _, c := range []struct {
		host  string
		proof hub.Proof
		want  string // of the refusal
	}{
		{"A.example", hub.ProofWellKnown, ""},
		{"b.example:8443", hub.ProofDNS, ""},
		{"c.example", hub.ProofPerson, ""},
		{"other.example", hub.ProofWellKnown, "has no line"},
		{"none.example", hub.ProofWellKnown, "answered 404"},
		{"inside.example", hub.ProofWellKnown, "private or special"},
		{"down.example", hub.ProofWellKnown, "did not answer (connect)"},
		{"none.example", hub.ProofDNS, "No TXT record of _mash-callback.none.example was found"},
		{"other.example", hub.ProofDNS, "is this agent's challenge"},
		{"192.0.2.1", hub.ProofDNS, "An address has no TXT record"},
		{"c.example", "hearsay", "A proof is"},
		{"no host/", hub.ProofPerson, "This is no host."},
	} {
		bound, err := d.BindHost(t.Context(), d.owner, "bot", c.host, c.proof)
		if c.want == "" {
			want := hub.CallbackHost{Host: strings.ToLower(c.host), Proof: c.proof, At: noon, By: "human:alice"}
			if err != nil || *bound != want {
				t.Errorf("BindHost(%s, %s) = %+v, %v, want %+v", c.host, c.proof, bound, err, want)
			}
			continue
		}
		if e := ma2h.AsError(err); e == nil || e.Code != ma2h.CodeInvalidField || !strings.Contains(e.Message, c.want) {
			t.Errorf("BindHost(%s, %s) = %v, want a refusal that says %q", c.host, c.proof, err, c.want)
		}
	}
	got := d.detail(t)
	if l.line != got.Challenge || !strings.HasPrefix(got.Challenge, "mash-callback=") {
		t.Errorf("looked for %q, and the agent's challenge is %q", l.line, got.Challenge)
	}
	var hosts []string
	for _, h := range got.Hosts {
		hosts = append(hosts, h.Host)
	}
	if diff := cmp.Diff([]string{"a.example", "b.example:8443", "c.example"}, hosts); diff != "" {
		t.Errorf("hosts (-want +got)\n%s", diff)
	}
}

func TestTheChallengeIsOfOneAgent(t *testing.T) {
	t.Parallel()
	d, _ := provingDesk(t, nil)
	if _, err := d.AddAgent(t.Context(), d.owner, "other"); err != nil {
		t.Fatal(err)
	}
	other, err := d.AgentDetail(t.Context(), d.owner, "other")
	if err != nil {
		t.Fatal(err)
	}
	if a, b := d.detail(t).Challenge, d.detail(t).Challenge; a != b || a == other.Challenge {
		t.Errorf("challenges %q, %q of one agent and %q of another", a, b, other.Challenge)
	}
}

func TestHostsAreThePersonsOwnAgents(t *testing.T) {
	t.Parallel()
	d, _ := provingDesk(t, nil)
	stranger, err := d.EnsureAccount(t.Context(), "mallory")
	if err != nil {
		t.Fatal(err)
	}
	_, bind := d.BindHost(t.Context(), stranger, "bot", "a.example", hub.ProofPerson)
	_, detail := d.AgentDetail(t.Context(), stranger, "bot")
	_, secret := d.SetSecret(t.Context(), stranger, "bot", hub.SecretRequest{Ref: "x"})
	for what, err := range map[string]error{
		"BindHost": bind, "AgentDetail": detail, "SetSecret": secret,
		"UnbindHost":   d.UnbindHost(t.Context(), stranger, "bot", "a.example"),
		"UseSecretNow": d.UseSecretNow(t.Context(), stranger, "bot", hub.PushSecretRef),
		"RemoveSecret": d.RemoveSecret(t.Context(), stranger, "bot", hub.PushSecretRef, ""),
	} {
		if e := ma2h.AsError(err); e == nil || e.Code != ma2h.CodeNotFound {
			t.Errorf("%s of another account's agent = %v, want not_found", what, err)
		}
	}
	_, agents := d.BindHost(t.Context(), d.agent, "bot", "a.example", hub.ProofPerson)
	if e := ma2h.AsError(agents); e == nil || e.Code != ma2h.CodeNotAuthorized {
		t.Errorf("BindHost by the agent itself = %v, want not_authorized", agents)
	}
}

func TestAHostOnceBoundCanBeProvenAnewAndRemoved(t *testing.T) {
	t.Parallel()
	d, _ := provingDesk(t, map[string]hub.Proven{"dns a.example": {Shown: true}})
	for _, proof := range []hub.Proof{hub.ProofPerson, hub.ProofDNS} {
		if _, err := d.BindHost(t.Context(), d.owner, "bot", "a.example", proof); err != nil {
			t.Fatal(err)
		}
	}
	want := []hub.CallbackHost{{Host: "a.example", Proof: hub.ProofDNS, By: "human:alice"}}
	if diff := cmp.Diff(want, d.detail(t).Hosts, cmpopts.IgnoreFields(hub.CallbackHost{}, "At")); diff != "" {
		t.Errorf("hosts (-want +got)\n%s", diff)
	}
	for range 2 {
		if err := d.UnbindHost(t.Context(), d.owner, "bot", "A.example"); err != nil {
			t.Fatal(err)
		}
	}
	if got := d.detail(t).Hosts; len(got) > 0 {
		t.Errorf("hosts = %v, want none", got)
	}
}

// An older hub would drop an agent's hosts when it writes the agent, so that it must refuse to read it.
func TestWhatOlderHubsWouldLoseHasANewerFormat(t *testing.T) {
	t.Parallel()
	d, _ := provingDesk(t, nil)
	format := func() bool {
		recs, err := d.Store.Get(t.Context(), hub.AgentKey(d.AgentRef(d.owner.Account.Ref, "bot")))
		if err != nil {
			t.Fatal(err)
		}
		return strings.HasPrefix(string(recs[0].Body), `{"format":2,`)
	}
	if format() {
		t.Error("an agent without hosts says that it has format 2")
	}
	if _, err := d.BindHost(t.Context(), d.owner, "bot", "a.example", hub.ProofPerson); err != nil {
		t.Fatal(err)
	}
	if !format() {
		t.Error("an agent with a host does not say that it has format 2")
	}
	if err := d.UnbindHost(t.Context(), d.owner, "bot", "a.example"); err != nil {
		t.Fatal(err)
	}
	if format() {
		t.Error("an agent without hosts says that it has format 2")
	}
	if _, err := d.SetSecret(t.Context(), d.owner, "bot", hub.SecretRequest{Ref: hub.PushSecretRef}); err != nil {
		t.Fatal(err)
	}
	if !format() {
		t.Error("an agent with a secret that is not used yet does not say that it has format 2")
	}
}

package conform

import (
	"bytes"
	"io"
	"net/http"
	"slices"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/signature"
)

// consumer is the agent of pkg/client, to which a delivery of the hub is presented as often as it looks.
type consumer struct{ *client.Mailbox }

// canned is an agent to whom a hub would give this answer.
func (m *mouth) canned(delivery *answer) *consumer {
	t := m.t
	c := client.New(t.home.url(), m.token)
	c.Agent.ID, c.Patience, c.Now = m.id, -1, t.home.now
	c.HTTP = &http.Client{Transport: replaying{delivery, bearing{t.home.header(), t.http}}}
	box := &client.Mailbox{Client: c, Session: m.session, Policy: client.AllowEveryAgent()}
	for _, k := range t.keys() {
		switch k := k.(type) {
		case signature.HMAC:
			box.Secrets = append(box.Secrets, string(k))
		case signature.PublicKey:
			box.PublicKeys = append(box.PublicKeys, []byte(k))
		}
	}
	return &consumer{box}
}

// replaying is a transport that answers each drain alike.
type replaying struct {
	delivery *answer
	next     http.RoundTripper
}

// RoundTrip answers a drain, and passes on what is none.
func (r replaying) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodGet || req.URL.Path[len(req.URL.Path)-len("/v1/inbox"):] != "/v1/inbox" {
		return r.next.RoundTrip(req)
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{}, Request: req, Body: io.NopCloser(bytes.NewReader(r.delivery.body)),
	}, nil
}

// entries are those that the agent takes.
func (c *consumer) entries(t *trial) []client.Entry {
	got, err := c.Drain(t.ctx, client.DrainOptions{})
	if err != nil {
		t.fail("a drain by pkg/client: %v", err)
	}
	t.hold(len(got.Refused) == 0, "pkg/client takes what a hub delivers: %v", got.Refused)
	return got.Entries
}

// drainsUnder is what the agent takes when it has been given this policy.
func (c *consumer) drainsUnder(t *trial, policy *client.Policy) *client.Drained {
	c.Policy = policy
	got, err := c.Drain(t.ctx, client.DrainOptions{})
	if err != nil {
		t.fail("a drain by pkg/client: %v", err)
	}
	return got
}

// withheld wants a message not to be handed over under this policy, and returns what is said of it.
func (c *consumer) withheld(t *trial, policy *client.Policy, id string) client.Withheld {
	got := c.drainsUnder(t, policy)
	for _, e := range got.Entries {
		t.hold(e.Key() != id, "an agent acts on no ask or task of whom no policy allows (spec §13.4)")
	}
	for _, w := range got.Withheld {
		if w.ID == id {
			return w
		}
	}
	t.fail("%s among what is withheld under the policy of %s (spec §13.4)", id, policy)
	return client.Withheld{}
}

// takes says whether a message is handed over under this policy.
func (c *consumer) takes(t *trial, policy *client.Policy, id string) bool {
	return slices.ContainsFunc(c.drainsUnder(t, policy).Entries, func(e client.Entry) bool { return e.Key() == id })
}

// refusal is why the agent takes nothing of what is delivered.
func (c *consumer) refusal(t *trial) error {
	got, err := c.Drain(t.ctx, client.DrainOptions{})
	if err != nil {
		t.fail("a drain by pkg/client: %v", err)
	}
	t.hold(len(got.Entries) == 0 && len(got.Refused) > 0, "nothing that an agent takes (spec §13.4)")
	return got.Refused[0]
}

// tampered is a delivery in which one text stands for another.
func (a *answer) tampered(from, to string) *answer {
	b := *a
	b.body = bytes.ReplaceAll(a.body, []byte(from), []byte(to))
	a.t.hold(!bytes.Equal(a.body, b.body), "%q in what is delivered", from)
	return &b
}

package conform

import (
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// caller is an agent or a person as a clause speaks for them.
type caller struct {
	t *trial
	principal
}

// agent is an agent of the account.
func (t *trial) agent(name string) *caller {
	p, err := t.home.agent(t.ctx, name)
	t.able(err, "an agent")
	return &caller{t, p}
}

// fleet are agents of an account that has opted in to mail between them.
func (t *trial) fleet(name, other string) (*caller, *caller) {
	t.needs(t.can.InterAgent.Enabled, "mail between agents")
	a, b := t.agent(name), t.agent(other)
	t.able(t.home.optIn(t.ctx, true), "an account that opts in")
	return a, b
}

// person is who owns the account.
func (t *trial) person() *caller {
	p, err := t.home.person(t.ctx)
	t.able(err, "a person")
	return &caller{t, p}
}

// stranger is an agent of another account.
func (t *trial) stranger() *caller {
	p, err := t.home.stranger(t.ctx)
	t.able(err, "an agent of another account")
	return &caller{t, p}
}

// call calls an endpoint of the protocol.
func (c *caller) call(name endpoint.Name, body any, ids ...string) *answer {
	e := endpoint.Of(name)
	return c.t.send(c, e.Method, e.Fill(ids...), body)
}

// asks is an ask for the answer approve or deny.
func asks(to string) doc {
	d := doc{"type": "ask", "title": "May I deploy?", "request": doc{"mode": "confirm"}}
	if to != "" {
		d["to"] = to
	}
	return d
}

func notifies(to string) doc { return doc{"type": "notify", "title": "It is deployed", "to": to} }

func tasks(to string) doc {
	return doc{"type": "task", "title": "Turn the key", "action": doc{"instructions": "Clockwise."}, "to": to}
}

// with sets more members.
func (d doc) with(members ...any) doc {
	for pair := range slices.Chunk(members, 2) {
		name, value := pair[0].(string), pair[1] //nolint:forcetypeassert // names are written beside their values
		d[name] = value
	}
	return d
}

// request sets members of an ask's request.
func (d doc) request(members ...any) doc {
	d["request"].(doc).with(members...) //nolint:forcetypeassert // only asks have one
	return d
}

// by lets an unaddressed ask be answered by these.
func (d doc) by(resolvers ...string) doc { return d.request("allowed_resolvers", resolvers) }

// submit sends an envelope, and fills in what each has. Where the hub says that it is too soon it waits (spec §8.6).
func (c *caller) submit(d doc) *answer {
	full := doc{"ma2h_version": ma2h.Newest, "created_at": ma2h.FormatTime(c.t.home.now()), "idempotency_key": "key_" + ma2h.NewTail()}
	if session, ok := d["session"]; ok {
		full["agent"] = doc{"id": c.id, "run_id": "run_1", "session": session}
	} else {
		full["agent"] = doc{"id": c.id, "run_id": "run_1"}
	}
	for name, v := range d {
		if name != "session" {
			full[name] = v
		}
	}
	a := c.call(endpoint.Submit, full)
	for a.status == http.StatusTooManyRequests && !c.t.home.virtual() {
		c.t.pause(max(ma2h.RetryAfter(a.header.Get("Retry-After"), time.Now()), pollPause))
		a = c.call(endpoint.Submit, full)
	}
	if a.status == http.StatusAccepted && a.str("/id") != "" {
		c.t.leaves(c, endpoint.Cancel, a.str("/id"))
	}
	return a
}

// accepted submits what has to be accepted, and returns its id.
func (c *caller) accepted(d doc) string {
	return c.submit(d).is(http.StatusAccepted, "the message is accepted (spec §8.1)").shaped(ma2h.KindSubmitAck, ma2h.Newest).str("/id")
}

// pull reads a message of one's own.
func (c *caller) pull(id string) *answer {
	a := c.call(endpoint.Pull, nil, id).is(http.StatusOK, "its sender may read a message (spec §8.2)")
	return a.shaped(ma2h.KindGetMessage, a.str("/ma2h_version"))
}

func (c *caller) cancel(id string) *answer { return c.call(endpoint.Cancel, nil, id) }

func (c *caller) resolve(id string, body doc) *answer { return c.call(endpoint.Resolve, body, id) }

func answered(value any) doc { return doc{"resolution": "answered", "value": value} }

// answers resolves an ask, which has to succeed.
func (c *caller) answers(id string, value any) {
	c.resolve(id, answered(value)).is(http.StatusOK, "%s may answer (spec §9.1)", c.actor)
}

// direct sends a directive, which has to be accepted, and returns its id.
func (t *trial) direct(d directive) string {
	return t.tryDirect(d).is(http.StatusCreated, "a directive to an agent of the account is accepted (spec §13)").str("/id")
}

// tryDirect sends a directive.
func (t *trial) tryDirect(d directive) *answer {
	d.Title = "Do not deploy"
	status, body, err := t.home.direct(t.ctx, d)
	t.able(err, "a way to send directives")
	return t.saw(status, body, "a person's directive to "+d.To)
}

// track is what became of a directive, as its author sees it.
func (t *trial) track(id string) *answer {
	status, body, err := t.home.track(t.ctx, id)
	t.able(err, "a way to read what became of a directive")
	return t.saw(status, body, "what became of "+id).is(http.StatusOK, "a directive's author reads its track (spec §14.2)")
}

// saw is an answer to what the household asked for.
func (t *trial) saw(status int, body []byte, sent string) *answer {
	a := &answer{t: t, sent: sent, status: status, body: body}
	t.mu.Lock()
	t.last = a
	t.mu.Unlock()
	return a
}

// presence is how a person sees an agent.
func (c *caller) presence(agent string) *answer {
	a := c.call(endpoint.Presence, nil, agent).is(http.StatusOK, "a person reads the presence of agents (spec §15.3)")
	return a.shaped(ma2h.KindPresence, ma2h.Newest)
}

// presenting is a path with a session presented.
func presenting(path, session string, more ...string) string {
	q := url.Values{}
	if session != "" {
		q.Set("session", session)
	}
	for i := 0; i < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

package controlapi_test

import (
	"net/http"
	"net/url"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// Sessions, as agents and people see them through HTTP.

// registers begins a session of the agent and returns its id; nil is a registration without a body.
func (c *caller) registers(body any) string {
	c.s.t.Helper()
	a := c.register(body).is(http.StatusCreated)
	return a.str("/session/id")
}

func (c *caller) register(body any) *answer {
	c.s.t.Helper()
	a := c.send("POST", "/v1/sessions", body)
	if a.status == http.StatusCreated {
		a.shaped(ma2h.KindSessionEnvelope, ma2h.Newest)
	}
	return a
}

// reads is how the caller sees one session.
func (c *caller) reads(id string) *answer {
	c.s.t.Helper()
	a := c.send("GET", "/v1/sessions/"+id, nil)
	if a.status == http.StatusOK {
		a.shaped(ma2h.KindSessionEnvelope, ma2h.Newest)
	}
	return a
}

// closes ends a session.
func (c *caller) closes(id string) *answer {
	c.s.t.Helper()
	a := c.send("DELETE", "/v1/sessions/"+id, nil)
	if a.status == http.StatusOK {
		a.shaped(ma2h.KindSessionEnvelope, ma2h.Newest)
	}
	return a
}

// sessions lists sessions: the scope, and the ids in their order.
func (c *caller) sessions() (scope string, ids []string) {
	c.s.t.Helper()
	a := c.send("GET", "/v1/sessions", nil).is(http.StatusOK)
	a.shaped(ma2h.KindSessionList, ma2h.Newest)
	ids = []string{}
	for _, row := range a.at("/sessions").([]any) {
		ids = append(ids, row.(map[string]any)["id"].(string))
	}
	return a.str("/scope"), ids
}

// presence is whether an agent is there, as the caller learns it.
func (c *caller) presence(agent string) *answer {
	c.s.t.Helper()
	a := c.send("GET", "/v1/agents/"+url.PathEscape(agent)+"/presence", nil)
	if a.status == http.StatusOK {
		a.shaped(ma2h.KindPresence, ma2h.Newest)
	}
	return a
}

func (c *caller) stops(agent string) *answer {
	c.s.t.Helper()
	return c.send("POST", "/v1/stops", doc{"agent": agent})
}

func (c *caller) lifts(agent string) *answer {
	c.s.t.Helper()
	return c.send("POST", "/v1/stops/lift", doc{"agent": agent})
}

// holdBound asks for how long a stream could be held.
func (c *caller) holdBound(session string) *answer {
	c.s.t.Helper()
	return c.send("GET", "/_conformance/hold-bound?session="+session, nil)
}

// waitsFor is activity without a session: a pull that waits.
func (c *caller) waitsFor(id string) {
	c.s.t.Helper()
	c.send("GET", "/v1/messages/"+id+"?wait=1", nil).is(http.StatusOK)
}

// unknownSession has the form of an id and belongs to nobody.
const unknownSession = "sess_00000000000000000000000000"

// at sets the clock to so long after noon.
func (s *suite) at(d time.Duration) { s.now = noon.Add(d) }

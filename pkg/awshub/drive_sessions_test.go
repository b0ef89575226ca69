package awshub_test

import (
	"net/http"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// sessionAdd registers where there is room, and where there is only once those that have lapsed are ended.
func (d *drive) sessionAdd() {
	f := d.function(endpoint.SessionAdd)
	d.strangers(f, endpoint.SessionAdd, nil)
	d.must(f, "POST", "/v1/sessions", d.bot, nil, http.StatusCreated)
	_, other := d.agents()
	for range hub.DefaultSettings().MaxLivePerAgent {
		d.session(other, time.Hour)
	}
	d.must(f, "POST", "/v1/sessions", d.other, doc{"ttl_seconds": 60}, http.StatusCreated)
}

func (d *drive) sessionList() {
	f := d.function(endpoint.SessionList)
	d.strangers(f, endpoint.SessionList, nil)
	bot, _ := d.agents()
	d.session(bot, time.Hour)
	d.session(bot, 0)
	for _, token := range []string{d.bot, d.alice} {
		d.must(f, "GET", "/v1/sessions", token, nil, http.StatusOK)
	}
}

func (d *drive) sessionRead() {
	f := d.function(endpoint.SessionRead)
	d.strangers(f, endpoint.SessionRead, nil)
	bot, _ := d.agents()
	for _, token := range []string{d.bot, d.alice} {
		d.must(f, "GET", "/v1/sessions/"+d.session(bot, 0), token, nil, http.StatusOK)
		d.must(f, "GET", "/v1/sessions/"+d.session(bot, time.Hour), token, nil, http.StatusOK)
		d.must(f, "GET", "/v1/sessions/sess_"+strings.Repeat("a", ma2h.TailLength), token, nil, http.StatusNotFound)
	}
}

func (d *drive) sessionClose() {
	f := d.function(endpoint.SessionClose)
	d.strangers(f, endpoint.SessionClose, nil)
	for _, token := range []string{d.bot, d.alice} {
		session := d.waitedFor()
		for range 2 {
			d.must(f, "DELETE", "/v1/sessions/"+session, token, nil, http.StatusOK)
		}
	}
}

// lapsed is a session as waitedFor, whose lease has ended without anybody's noticing.
func (d *drive) lapsed() string {
	d.t.Helper()
	bot, other := d.agents()
	session := d.session(bot, time.Hour)
	d.directed("agent:bot#"+session, time.Hour-time.Second)
	e := addressed(session, "agent:bot#"+session, "")
	e["agent"] = doc{"id": "other", "run_id": "r", "session": d.session(other, 0)}
	d.writes(other, time.Hour-time.Second, e)
	return session
}

// waitedFor is a session of bot's that lives, with a directive and an ask of the other's in its mailbox, whose sender's session
// is told of its end.
func (d *drive) waitedFor() string {
	d.t.Helper()
	bot, other := d.agents()
	session := d.session(bot, 0)
	d.directed("agent:bot#"+session, 0)
	e := addressed(session, "agent:bot#"+session, "")
	e["agent"] = doc{"id": "other", "run_id": "r", "session": d.session(other, 0)}
	d.writes(other, 0, e)
	return session
}

func (d *drive) presence() {
	f := d.function(endpoint.Presence)
	d.strangers(f, endpoint.Presence, nil)
	bot, _ := d.agents()
	d.session(bot, 0)
	d.must(f, "GET", "/v1/agents/bot/presence", d.alice, nil, http.StatusOK)
	d.must(f, "GET", "/v1/agents/nobody/presence", d.alice, nil, http.StatusOK)
}

func (d *drive) agentStop() {
	f := d.function(endpoint.AgentStop)
	body := doc{"agent": "bot", "reason": "enough"}
	d.strangers(f, endpoint.AgentStop, body)
	bot, _ := d.agents()
	d.session(bot, time.Hour)
	d.waitedFor()
	for range 2 {
		d.must(f, "POST", "/v1/stops", d.alice, body, http.StatusNoContent)
	}
	d.must(f, "POST", "/v1/stops", d.alice, doc{"agent": "nobody"}, http.StatusNotFound)
}

func (d *drive) stopLift() {
	f := d.function(endpoint.StopLift)
	body := doc{"agent": "bot"}
	d.strangers(f, endpoint.StopLift, body)
	if err := d.hub.StopAgent(d.t.Context(), d.owner, "bot", ""); err != nil {
		d.t.Fatal(err)
	}
	for range 2 {
		d.must(f, "POST", "/v1/stops/lift", d.alice, body, http.StatusNoContent)
	}
}

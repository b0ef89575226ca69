package controlapi_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// A max that is none must not lift the bound on a drain, and a query that is malformed is not read in part.
func TestB51_BadQueriesOfADrain(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		s.writesNothing(func() {
			for _, max := range []string{"", "0", "00", "-1", "%2B1", "+1", "1.5", "1e3", "0x10", "all", "1_0", "%201", "1%20", "Infinity", "NaN", "null", "%D9%A1"} {
				for _, method := range []string{"GET", "HEAD"} {
					a := bot.send(method, "/v1/inbox?max="+max, nil).is(http.StatusBadRequest)
					if method == "GET" {
						a.refused(http.StatusBadRequest, ma2h.CodeValidationError, "/max")
					}
				}
			}
			for _, name := range []string{"max", "wait", "session"} {
				bot.send("GET", "/v1/inbox?"+name+"=1&"+name+"=2", nil).refused(http.StatusBadRequest, ma2h.CodeValidationError, "/"+name)
			}
			for _, wait := range []string{"", "soon", "-1", "NaN", "Infinity", "1s"} {
				bot.send("GET", "/v1/inbox?wait="+wait, nil).refused(http.StatusBadRequest, ma2h.CodeValidationError, "/wait")
			}
			for _, query := range []string{"max=1;wait=1", "max=%", "max=%zz", "session=%x"} {
				bot.send("GET", "/v1/inbox?"+query, nil).refused(http.StatusBadRequest, ma2h.CodeValidationError, "")
				bot.send("POST", "/v1/inbox/ack?"+query, doc{"ids": []string{}}).refused(http.StatusBadRequest, ma2h.CodeValidationError, "")
			}
		})
	})
}

// Mailboxes are of agents.
func TestInbox_IsForAgents(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		alice := s.person("alice")
		s.writesNothing(func() {
			alice.send("GET", "/v1/inbox", nil).refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
			alice.send("POST", "/v1/inbox/ack", doc{"ids": []string{}}).refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
			for _, r := range []struct{ method, path string }{{"GET", "/v1/inbox"}, {"POST", "/v1/inbox/ack"}, {"POST", "/v1/directives"}, {"GET", "/v1/directives/dir_1"}} {
				s.send(request{method: r.method, path: r.path, body: doc{}}).refused(http.StatusUnauthorized, ma2h.CodeUnauthenticated, "")
			}
		})
	})
}

func TestBadInput_AcksOfEntries(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		for what, b := range map[string]bad{
			"no body":          malformed("", ""),
			"null":             malformed("null", ""),
			"an array":         malformed(`["dir_1"]`, ""),
			"no ids":           malformed("{}", "/ids"),
			"ids null":         malformed(`{"ids":null}`, "/ids"),
			"ids a string":     malformed(`{"ids":"dir_1"}`, "/ids"),
			"an id a number":   malformed(`{"ids":["dir_1",7]}`, "/ids/1"),
			"an id null":       malformed(`{"ids":[null]}`, "/ids/0"),
			"ids twice":        malformed(`{"ids":[],"ids":[]}`, "/ids"),
			"note a number":    malformed(`{"ids":[],"note":7}`, "/note"),
			"note null":        malformed(`{"ids":[],"note":null}`, "/note"),
			"a note too long":  invalid(doc{"ids": []string{}, "note": strings.Repeat("é", 2049)}, "/note"),
			"too many ids":     invalid(doc{"ids": make([]string, 1001)}, "/ids"),
			"too many bytes":   invalid(doc{"ids": []string{strings.Repeat("x", 256<<10)}}, ""),
			"above transport":  {strings.Repeat(" ", 1<<20+1), http.StatusRequestEntityTooLarge, ma2h.CodeTooLarge, ""},
			"half a surrogate": malformed(`{"ids":["\ud800"]}`, "/ids/0"),
		} {
			s.run(what, func() {
				s.writesNothing(func() { bot.send("POST", "/v1/inbox/ack", b.body).refused(b.status, b.code, b.field) })
			})
		}
	})
}

// badDirectives are directives that are refused wherever a person sends them.
func badDirectives() map[string]bad {
	of := func(edits ...edit) doc {
		d := doc{"to": "agent:bot", "title": "Stop"}
		for _, e := range edits {
			e(d)
		}
		return d
	}
	return map[string]bad{
		"to missing":           malformed(of(drop("/to")), "/to"),
		"to nobody":            malformed(of(set("/to", "agent:")), "/to"),
		"to a person":          malformed(of(set("/to", "human:alice")), "/to"),
		"to no session":        malformed(of(set("/to", "agent:bot#x")), "/to"),
		"to a bare id":         malformed(of(set("/to", "bot")), "/to"),
		"title missing":        malformed(of(drop("/title")), "/title"),
		"title empty":          malformed(of(set("/title", "")), "/title"),
		"title too long":       malformed(of(set("/title", strings.Repeat("é", 201))), "/title"),
		"title null":           malformed(of(set("/title", nil)), "/title"),
		"body a number":        malformed(of(set("/body", 7)), "/body"),
		"priority unknown":     malformed(of(set("/priority", "asap")), "/priority"),
		"a tag a number":       malformed(of(set("/tags", []any{"a", 7})), "/tags/1"),
		"context an object":    malformed(of(set("/context", doc{})), "/context"),
		"part of no kind":      malformed(of(set("/context", []doc{{"text": "x"}})), "/context/0/kind"),
		"expires_at no time":   malformed(of(set("/expires_at", "soon")), "/expires_at"),
		"sensitive no boolean": malformed(of(set("/sensitive", "yes")), "/sensitive"),
		"a request":            malformed(of(set("/request", doc{"mode": "confirm"})), "/request"),
		"a state":              malformed(of(set("/state", doc{})), "/state"),
		"an id":                malformed(of(set("/id", "dir_1")), "/id"),
		"a version":            malformed(of(set("/ma2h_version", "0.6")), "/ma2h_version"),
		"a typo":               malformed(of(set("/titel", "x")), "/titel"),
		"another spelling":     malformed(of(set("/Title", "x")), "/Title"),
		"title twice":          malformed(`{"to":"agent:bot","title":"a","title":"b"}`, "/title"),
		"seventeen parts":      invalid(of(set("/context", manyParts(17))), "/context"),
		"a part too large":     invalid(of(set("/context", []doc{{"kind": "text", "text": "x"}, partOf(128 << 10)})), "/context/1"),
		"too large":            invalid(of(set("/body", strings.Repeat("x", 256<<10))), ""),
	}
}

func TestBadInput_Directives(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot")
		bot, alice := s.agent("bot"), s.person("alice")
		for what, b := range badDirectives() {
			s.run(what, func() {
				s.writesNothing(func() { alice.send("POST", "/v1/directives", b.body).refused(b.status, b.code, b.field) })
				if d, ok := b.body.(doc); ok {
					d["from"] = "human:alice"
					s.writesNothing(func() { s.control("POST", "directives", d).refused(b.status, b.code, b.field) })
				}
			})
		}
		s.writesNothing(func() {
			for _, body := range []string{"", "null", "[]", "{", `"stop"`} {
				alice.send("POST", "/v1/directives", body).refused(http.StatusBadRequest, ma2h.CodeValidationError, "")
				s.control("POST", "directives", body).refused(http.StatusBadRequest, ma2h.CodeValidationError, "")
			}
			alice.send("POST", "/v1/directives", doc{"from": "human:bob", "to": "agent:bot", "title": "x"}).
				refused(http.StatusBadRequest, ma2h.CodeValidationError, "/from")
			bot.send("POST", "/v1/directives", doc{"to": "agent:bot", "title": "x"}).refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
			bot.send("GET", "/v1/directives/dir_1", nil).refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
			for _, from := range []any{absent{}, nil, 7, "", "alice", "human:", "agent:bot", "system:x", "human:a#sess_1"} {
				d := doc{"to": "agent:bot", "title": "x", "from": from}
				if from == (absent{}) {
					delete(d, "from")
				}
				s.control("POST", "directives", d).refused(http.StatusBadRequest, ma2h.CodeValidationError, "/from")
			}
		})
	})
}

// A session that is presented by an empty name is one that nobody has.
func TestB48_AnEmptySessionIsNoneOfYours(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		id := bot.accepted(s.ask(resolvers("agent:bot", "human:alice")))
		s.writesNothing(func() {
			for _, session := range []string{"", "sess_", "sess_1", "x", "sess_" + id[4:]} {
				for _, c := range []*caller{bot, alice} {
					c.send("POST", "/v1/messages/"+id+"/resolve?session="+session, resolveOf(s.ask())).
						refused(http.StatusNotFound, ma2h.CodeNotFound, "")
				}
			}
		})
		bot.send("POST", "/v1/messages/"+id+"/resolve?session=%", resolveOf(s.ask())).
			refused(http.StatusBadRequest, ma2h.CodeValidationError, "")
		s.later(time.Second)
		bot.get(id).shows("/status", "open")
	})
}

package localhub_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// mailFor is an ask that is addressed.
func mailFor(key, to, session string) doc {
	agent := doc{"id": "bot", "run_id": "run_1"}
	if session != "" {
		agent["session"] = session
	}
	return doc{
		"ma2h_version": "0.6", "type": "ask", "created_at": "2026-01-31T12:00:00Z", "agent": agent, "to": to, "title": "t",
		"idempotency_key": key, "request": confirm,
	}
}

// session registers a session of who has the token.
func (s *server) session(token string) string {
	s.t.Helper()
	return s.send("POST", "/v1/sessions", token, doc{}, http.StatusCreated)["session"].(map[string]any)["id"].(string)
}

// TestBudget_OfMailboxes holds every operation of mailboxes to what it may ask of a store.
func TestBudget_OfMailboxes(t *testing.T) {
	counting(t, 0, func(s *server, c *counted) {
		bot, helper, alice := s.agent("bot").Token, s.agent("helper").Token, s.person("alice")
		s.send("PUT", "/v1/settings", alice, doc{"inter_agent_enabled": true}, http.StatusNoContent)
		mine, theirs := s.session(bot), s.session(helper)
		var ids []string
		submit := func(key, to, session string) func() {
			return func() {
				a := s.send("POST", "/v1/messages", bot, mailFor(key, to, session), http.StatusAccepted)
				ids = append(ids, a["id"].(string))
			}
		}
		direct := func(to string) func() {
			return func() {
				a := s.send("POST", "/v1/directives", alice, doc{"to": to, "title": "t"}, http.StatusCreated)
				ids = append(ids, a["id"].(string))
			}
		}
		drain := func(query string, want int) func() {
			return func() {
				got := s.send("GET", "/v1/inbox"+query, helper, nil, http.StatusOK)["messages"].([]any)
				if len(got) != want {
					s.t.Errorf("a drain returns %d entries, want %d", len(got), want)
				}
			}
		}
		ack := func(query string) func() {
			return func() { s.send("POST", "/v1/inbox/ack"+query, helper, doc{"ids": ids}, http.StatusOK); ids = nil }
		}
		for _, o := range []struct {
			operation string
			deed      func()
			want      cost
		}{
			{"a submit to an agent", submit("1", "agent:helper", ""), cost{1, 3}},
			{"the same again", submit("1", "agent:helper", ""), cost{2, 0}}, // what became of it stands in its row
			{"a submit to a session looks again", submit("2", "agent:helper#"+theirs, ""), cost{2, 3}},
			{"a submit in a session renews it", submit("3", "agent:helper", mine), cost{1, 4}},
			{"a pull of what is under way", func() { s.send("GET", messagePath(ids[0], ""), bot, nil, http.StatusOK) }, cost{2, 0}},
			{"a drain under a session", drain("?session="+theirs, 3), cost{5, 1 + 3}},
			{"an ack of three", func() { ids = ids[1:]; ack("?session=" + theirs)() }, cost{3, 1 + 2*3}},
			{"an empty drain under a session", drain("?session="+theirs, 0), cost{4, 1}},
			{"the same, held for a moment", drain("?session="+theirs+"&wait=0.01", 0), cost{8, 1}}, // it looks at once and at the end
			{"a directive to an agent", direct("agent:helper"), cost{3, 4}},                        // and how soon it may be picked up
			{"a directive to a session", direct("agent:helper#" + theirs), cost{3, 4}},
			{"a drain without a session", drain("", 1), cost{3, 1 + 1}},
			{"an empty drain without a session", drain("", 0), cost{2, 0}}, // seen a moment ago
			{"an ack without a session of what was seen", ack(""), cost{3, 2}},
			{"a registration", func() { s.session(helper) }, cost{1, 2}},
			{"a close with one entry", func() { s.send("DELETE", "/v1/sessions/"+theirs, helper, nil, http.StatusOK) }, cost{4, 4}}, // and bounces one

			{"another directive to a session", func() { direct("agent:bot#" + mine)() }, cost{3, 4}},
			{"a stop with one session and one entry", func() {
				s.send("POST", "/v1/stops", alice, doc{"agent": "bot", "reason": "enough"}, http.StatusNoContent)
			}, cost{8, 6}},
			{"an agent and its stop", func() { s.send("GET", "/v1/agent?id=bot", alice, nil, http.StatusOK) }, cost{2, 0}},
		} {
			same(s.t, "the cost of "+o.operation, c.spent(o.deed), o.want)
		}
	})
}

// TestBudget_OfWhatPeopleLookAt: what pages list costs the same however long the list is.
func TestBudget_OfWhatPeopleLookAt(t *testing.T) {
	counting(t, 0, func(s *server, c *counted) {
		h := s.household("ours")
		ctx := s.t.Context()
		for range 9 {
			if _, err := s.hub.Direct(ctx, h.owner, &ma2h.Directive{To: "agent:ours-bot#" + h.run, Title: "t"}); err != nil {
				s.t.Fatal(err)
			}
		}
		for _, o := range []struct {
			what string
			deed func() error
			want cost
		}{
			{"a thread of ten", func() error { _, err := s.hub.Thread(ctx, h.owner, "ours-bot", "", 20); return err }, cost{4, 0}},
			{"an agent with its sessions", func() error { _, err := s.hub.Attendance(ctx, h.owner, "ours-bot", 9); return err }, cost{4, 0}},
			{"the list's view of an agent", func() error { _, err := s.hub.Attendances(ctx, h.owner, []string{"ours-bot"}); return err }, cost{2, 0}},
		} {
			same(s.t, "the cost of "+o.what, c.spent(func() {
				if err := o.deed(); err != nil {
					s.t.Error(err)
				}
			}), o.want)
		}
	})
}

// TestBudget_OfAPairThatIsLimited: to be refused costs the store one note a minute, however often it happens.
func TestBudget_OfAPairThatIsLimited(t *testing.T) {
	counting(t, 0, func(s *server, c *counted) {
		bot, alice := s.agent("bot").Token, s.person("alice")
		s.agent("helper")
		s.send("PUT", "/v1/settings", alice, doc{"inter_agent_enabled": true}, http.StatusNoContent)
		submit := func(i int, want int) func() {
			return func() { s.send("POST", "/v1/messages", bot, mailFor(fmt.Sprint(i), "agent:helper", ""), want) }
		}
		for i := range 10 { // a burst
			submit(i, http.StatusAccepted)()
		}
		same(s.t, "the cost of the first refusal", c.spent(submit(10, http.StatusTooManyRequests)), cost{2, 1})
		for i := range 3 {
			same(s.t, "the cost of another", c.spent(submit(11+i, http.StatusTooManyRequests)), cost{1, 0})
		}
	})
}

// TestBudget_OfAWebhook: what it costs to push a directive, and to try again.
func TestBudget_OfAWebhook(t *testing.T) {
	counting(t, 0, func(s *server, c *counted) {
		s.agent("bot")
		alice := s.person("alice")
		s.send("POST", "/v1/hosts", alice, doc{"agent": "bot", "host": "agent.example", "proof": "person"}, http.StatusCreated)
		s.send("POST", "/v1/webhooks", alice, doc{"agent": "bot", "url": "https://agent.example/told"}, http.StatusNoContent)
		var id string
		same(s.t, "the cost of a directive", c.spent(func() {
			id = s.send("POST", "/v1/directives", alice, doc{"to": "agent:bot", "title": "t"}, http.StatusCreated)["id"].(string)
		}), cost{2, 4})
		key, _ := hub.LetterKey(id)
		// The directive; its row and its agent. The row, since it is delivered.
		same(s.t, "the cost of the push", c.spent(func() { s.fire(key) }), cost{2, 2})
	})
}

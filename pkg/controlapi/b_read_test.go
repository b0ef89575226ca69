package controlapi_test

import (
	"bytes"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

func TestB29_OnlyTheSubmitterPolls(t *testing.T) {
	onStores(t, func(t *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		id := bot.accepted(s.ask())
		unknown := "msg_" + "00000000000000000000000000"
		strangers := map[string]*caller{
			"another agent": s.agent("other"), "a person": alice, "an agent of the person's name": s.agent("alice"),
			"an id that goes on": s.agent("bot2"),
		}
		for what, c := range strangers {
			s.run(what, func() {
				foreign := c.get(id).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
				// Whether the id exists must not show.
				if other := c.get(unknown).is(http.StatusNotFound); !bytes.Equal(foreign.body, other.body) {
					s.t.Errorf("a foreign id gets %s, an unknown one %s; want the same", foreign.body, other.body)
				}
			})
		}
		for _, malformed := range []string{"msg_", "msg_1", "res_" + id[4:], "rcpt_" + id[4:], id + "0", id[4:], "MSG_" + id[4:], "%00"} {
			bot.get(malformed).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		}
		alice.answers(id, "approve").is(http.StatusOK)
		for what, c := range strangers {
			s.run(what+" afterwards", func() { c.get(id).refused(http.StatusNotFound, ma2h.CodeNotFound, "") })
		}
		same(t, "the submitter reads", bot.get(id).is(http.StatusOK).str("/status"), "answered")
	})
}

func TestB29_DeletedIsGone(t *testing.T) {
	onStoresWith(t, doc{"retention_days": 1}, func(_ *testing.T, s *suite) {
		bot, other := s.agent("bot"), s.agent("other")
		id := bot.accepted(s.notify())
		s.later(48*time.Hour + time.Millisecond)
		bot.get(id).refused(http.StatusGone, ma2h.CodeGone, "")
		other.get(id).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
	})
}

func TestB30_TheSubmittersGETStampsTheDelivery(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot")
		bot, alice, other := s.agent("bot"), s.person("alice"), s.agent("other")
		for _, end := range []struct {
			envelope doc
			resolve  doc
		}{
			{s.ask(), doc{"resolution": "answered", "value": "approve"}},
			{s.task(), doc{"resolution": "completed"}},
		} {
			id := bot.accepted(end.envelope)
			s.writesNothing(func() { bot.get(id).is(http.StatusOK).lacks("/delivery") })
			alice.resolve(id, end.resolve).is(http.StatusOK)
			// Others who look stamp nothing.
			s.writesNothing(func() {
				alice.read(id).is(http.StatusOK).lacks("/delivery")
				alice.send("GET", "/v1/waiting", nil).is(http.StatusOK)
				s.control("GET", "outcomes?id="+id, nil).is(http.StatusOK)
				other.get(id).is(http.StatusNotFound)
			})
			s.later(time.Minute)
			first := s.now
			delivered := doc{"state": "delivered-to-agent", "delivered_at": stamp(first)}
			bot.get(id).is(http.StatusOK).shows("/delivery", delivered)
			s.later(time.Minute)
			s.writesNothing(func() { bot.get(id).is(http.StatusOK).shows("/delivery", delivered) })
			alice.read(id).shows("/delivery", delivered)
		}
	})
}

func TestB30_NotModifiedStampsNothing(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		id := bot.accepted(s.ask())
		s.later(time.Minute)
		s.writesNothing(func() { bot.get(id + "?since=" + stamp(s.now)).is(http.StatusNotModified) })
	})
}

// A poller whose clock runs ahead of the hub's, or who polled while the outcome was being written, asks for what is
// younger than the outcome that it has not seen. Nor has it seen what was answered to a connection that was gone.
func TestB30_AnOutcomeIsNeverHiddenFromAnAgentThatHasNotShownThatItHasIt(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		for _, end := range []func(id string){
			func(id string) { alice.answers(id, "approve").is(http.StatusOK) },
			func(id string) { bot.cancel(id).is(http.StatusOK) },
			func(string) { s.later(2 * time.Hour) }, // past the deadline
		} {
			id := bot.accepted(s.ask(expires(stamp(s.now.Add(time.Hour)))))
			end(id)
			s.later(time.Minute)
			first := s.now
			for range 3 {
				bot.get(id+"?since="+stamp(s.now)).is(http.StatusOK).shows("/delivery/delivered_at", stamp(first)).str("/response/resolution_id")
				s.later(time.Minute)
			}
			bot.ack(id, nil).is(http.StatusOK)
			s.writesNothing(func() { bot.get(id + "?since=" + stamp(s.now)).is(http.StatusNotModified) })
			bot.get(id).is(http.StatusOK).shows("/delivery/state", "acknowledged")
		}
	})
}

func TestB30_AnOutcomeThatWasPushedIsNoNews(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		id := bot.accepted(s.ask(callback(callbackURL)))
		alice.answers(id, "approve").is(http.StatusOK)
		s.onePush()
		s.writesNothing(func() { bot.get(id + "?since=" + stamp(s.now)).is(http.StatusNotModified) })
		bot.get(id + "?since=" + stamp(s.now.Add(-time.Millisecond))).is(http.StatusOK)
	})
}

func TestB30_AnOutcomeThatNobodyFetchedInTimeIsStillNews(t *testing.T) {
	onStoresWith(t, doc{"retention_days": 1}, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		id := bot.accepted(s.ask())
		alice.answers(id, "approve").is(http.StatusOK)
		s.later(day + time.Millisecond)
		bot.get(id+"?since="+stamp(s.now)).is(http.StatusOK).shows("/delivery", doc{"state": "expired"}, "/status", "answered")
	})
}

func TestB31_UnaddressedMessagesHaveNoMailbox(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		notify := bot.accepted(s.notify())
		bot.get(notify).is(http.StatusOK).shows("/status", "delivered").lacks("/mailbox", "/delivery", "/response")
		for _, envelope := range []doc{s.ask(), s.task()} {
			id := bot.accepted(envelope)
			bot.get(id).shows("/status", "open").lacks("/mailbox", "/delivery", "/response")
			alice.resolve(id, resolveOf(envelope)).is(http.StatusOK)
			bot.get(id).shows("/delivery/state", "delivered-to-agent").lacks("/mailbox")
			bot.ack(id, nil).is(http.StatusOK)
			bot.get(id).shows("/delivery/state", "acknowledged").lacks("/mailbox")
		}
	})
}

// resolveOf is a resolve that fits an envelope.
func resolveOf(envelope doc) doc {
	if envelope["type"] == "task" {
		return doc{"resolution": "completed"}
	}
	return doc{"resolution": "answered", "value": "approve"}
}

func TestB32_SinceAsksForChangesOnly(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		id := bot.accepted(s.ask())
		since := func(at time.Time) string { return id + "?since=" + url.QueryEscape(stamp(at)) }
		s.later(time.Minute)
		a := bot.get(since(noon)).is(http.StatusNotModified)
		same(s.t, "body of 304", string(a.body), "")
		bot.get(since(noon.Add(-time.Millisecond))).is(http.StatusOK).shows("/status", "open")
		alice.answers(id, "approve").is(http.StatusOK)
		bot.get(since(noon)).is(http.StatusOK).shows("/status", "answered")
		bot.ack(id, nil).is(http.StatusOK)
		bot.get(since(s.now)).is(http.StatusNotModified)
		bot.get(id + "?since=" + url.QueryEscape("2026-03-14T13:00:00+01:00")).is(http.StatusOK)
		for _, bad := range []string{"yesterday", "", "1773489600", "2026-03-14"} {
			bot.get(id+"?since="+bad).refused(http.StatusBadRequest, ma2h.CodeValidationError, "/since")
		}
	})
}

func TestB32_SinceSeesAnExpiryThatNobodyNoticed(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		id := bot.accepted(s.ask(expires(stamp(noon.Add(time.Hour)))))
		s.later(2 * time.Hour)
		bot.get(id+"?since="+stamp(noon.Add(time.Minute))).is(http.StatusOK).shows("/status", "expired")
	})
}

func TestB32_WaitUnderAVirtualClockCountsAsNone(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		id := bot.accepted(s.ask())
		// Were they to wait, the test would take minutes.
		for _, wait := range []string{"60", "0", "3600", "0.5", "1e9"} {
			bot.get(id+"?wait="+wait).is(http.StatusOK).shows("/status", "open")
		}
		for _, bad := range []string{"soon", "", "-1", "NaN", "1s"} {
			bot.get(id+"?wait="+bad).refused(http.StatusBadRequest, ma2h.CodeValidationError, "/wait")
		}
	})
}

func TestB32_WithoutTheClockATenantWaits(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		id := bot.accepted(s.ask())
		s.now = time.Time{}
		began := time.Now()
		bot.get(id+"?wait=0.2").is(http.StatusOK).shows("/status", "open")
		if took := time.Since(began); took < 200*time.Millisecond {
			s.t.Errorf("wait=0.2 took %s, want 200 ms or more", took)
		}
	})
}

// TestB32_WaitEndsWithAnExpiryThatNobodyRings: no worker touches a tenant, so whoever waits finds out by itself.
func TestB32_WaitEndsWithAnExpiryThatNobodyRings(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		s.now = time.Time{}
		began := time.Now()
		id := bot.accepted(s.ask(expires(stamp(began.Add(400 * time.Millisecond)))))
		bot.get(id+"?wait=60").is(http.StatusOK).shows("/status", "expired")
		if took := time.Since(began); took < 400*time.Millisecond || took > 30*time.Second {
			s.t.Errorf("the wait ended after %s, want soon after 400 ms", took)
		}
	})
}

func TestSecretsOfAnAnswerAreForItsAgentAlone(t *testing.T) {
	onStores(t, func(t *testing.T, s *suite) {
		bot, alice, bob := s.agent("bot"), s.person("alice"), s.person("bob")
		id := bot.accepted(s.ask(set("/request/mode", "input"), set("/request/schema", doc{
			"properties":   doc{"e": doc{"type": "string"}, "pw": doc{"type": "string"}, "l": doc{"type": "array", "items": doc{"x-ma2h-sensitive": true}}},
			"dependencies": doc{"e": doc{"properties": doc{"pw": doc{"x-ma2h-sensitive": true}}}},
		})))
		alice.answers(id, doc{"e": "x", "pw": "HUSH", "l": []string{"HUSH"}}).is(http.StatusOK)
		for _, c := range []*caller{alice, bob} {
			a := c.read(id).is(http.StatusOK)
			if bytes.Contains(a.body, []byte("HUSH")) {
				t.Errorf("a person reads a secret: %s", a.body)
			}
			same(t, "what is left", a.at("/response/response/value"), any(map[string]any{"e": "x", "l": []any{}}))
			same(t, "how much is said to be withheld", len(a.at("/withheld").([]any)), 2)
		}
		same(t, "what the agent gets", bot.get(id).is(http.StatusOK).str("/response/response/value/pw"), "HUSH")
	})
}

func TestSecretsOfADefaultAreForItsAgentAlone(t *testing.T) {
	onStores(t, func(t *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		secret := doc{"type": "string", "x-ma2h-sensitive": true, "default": "HUSH", "examples": []string{"HUSH"}}
		id := bot.accepted(s.ask(set("/request/mode", "input"), set("/request/schema", doc{
			"type": "object", "default": doc{"pw": "HUSH", "e": "x"}, "$defs": doc{"s": secret},
			"properties": doc{"e": doc{"type": "string", "default": "shown"}, "pw": secret, "default": doc{"type": "string"},
				"q": doc{"$ref": "#/$defs/s"}, "l": doc{"type": "array", "items": doc{"allOf": []doc{secret}}, "default": []string{"HUSH"}}},
		}), set("/request/default_on_expire", doc{"e": "x", "pw": "HUSH", "l": []string{"HUSH"}}), expires(stamp(s.now.Add(time.Hour)))))
		sees := func(status string) {
			t.Helper()
			a := alice.read(id).is(http.StatusOK).shows("/status", status,
				"/message/request/schema/properties/e/default", "shown", "/message/request/schema/properties/default/type", "string",
				"/message/request/schema/properties/pw/x-ma2h-sensitive", true,
				"/message/request/default_on_expire", doc{"e": "x", "l": []any{}}, "/withheld", []any{"/l/0", "/pw"})
			if bytes.Contains(a.body, []byte("HUSH")) {
				t.Errorf("a person reads a secret: %s", a.body)
			}
		}
		sees("open")
		s.later(2 * time.Hour)
		sees("expired")
		a := bot.get(id).is(http.StatusOK)
		same(t, "what the agent gets", a.str("/response/response/value/pw")+a.str("/request/default_on_expire/pw"), "HUSHHUSH")
		same(t, "what the agent reads of its schema", a.str("/request/schema/properties/pw/default"), "HUSH")
	})
}

func TestADefaultThatIsASecretIsSaidToBeWithheld(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		id := s.agent("bot").accepted(s.ask(set("/request/mode", "input"), set("/request/schema", doc{"type": "object", "properties": doc{"pw": doc{}}, "x-ma2h-sensitive": true}),
			set("/request/default_on_expire", doc{"pw": "HUSH"}), expires(stamp(s.now.Add(time.Hour)))))
		s.person("alice").read(id).is(http.StatusOK).shows("/withheld", []any{""}).lacks("/message/request/default_on_expire")
	})
}

package realtime_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/ma2h"
)

func TestB18_AReplayReturnsTheIDAndTheStatusNow(t *testing.T) {
	onEngines(t, func(s *server) {
		bot, other := s.agent("bot"), s.agent("other")
		envelope := s.ask()
		first := bot.submit(envelope).is(http.StatusAccepted).shows("/status", "open")
		id := first.str("/id")
		first.shows("/poll_url", s.url+"/v1/messages/"+id, "/review_url", s.url+"/inbox/"+id)
		bot.submit(envelope).is(http.StatusAccepted).shows("/id", id, "/status", "open")
		s.owner.answers(id, "approve").is(http.StatusOK)
		bot.submit(envelope).is(http.StatusAccepted).shows("/id", id, "/status", "answered")

		set("/state", doc{"other": true})(envelope)
		bot.submit(envelope).refused(http.StatusConflict, ma2h.CodeIdempotencyConflict, "/idempotency_key").shows("/id", id)
		set("/agent/id", sender)(envelope)
		if theirs := other.accepted(envelope); theirs == id {
			s.t.Error("two agents share a message by its key")
		}
	})
}

func TestB21_EachVerbBeginsInItsStatus(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		for status, envelopes := range map[string][]doc{"delivered": {s.notify()}, "open": {s.ask(), s.task()}} {
			for _, e := range envelopes {
				id := bot.submit(e).is(http.StatusAccepted).shows("/status", status).str("/id")
				bot.pull(id, "").is(http.StatusOK).shows("/id", id, "/status", status, "/title", e["title"]).
					lacks("/mailbox", "/delivery", "/response")
			}
		}
	})
}

// TestB37_EachModeIsAnswered: every kind of ask and a task, from submit to ack.
func TestB37_EachModeIsAnswered(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		several := []doc{{"text": "one", "done": true}, {"text": "two", "done": false}}
		for what, c := range map[string]struct {
			envelope doc
			resolve  doc
			shows    []any
		}{
			"confirm": {s.ask(), doc{"resolution": "answered", "value": "approve"}, []any{"/response/response/value", "approve"}},
			"select": {s.ask(choose), doc{"resolution": "answered", "value": "hold", "comment": "Not on a Friday. ✓"},
				[]any{"/response/response/value", "hold", "/response/response/comment", "Not on a Friday. ✓"}},
			"own words": {s.ask(choose, set("/request/permissions", doc{"allow_edit": true})),
				doc{"resolution": "answered", "value": "später"},
				[]any{"/response/response/value", "später", "/response/response/edited", true}},
			"input": {s.ask(fillIn), doc{"resolution": "answered", "value": doc{"reason": "漢字 😀 \u2028"}},
				[]any{"/response/response/value", doc{"reason": "漢字 😀 \u2028"}}},
			"declined": {s.ask(), doc{"resolution": "declined"}, []any{"/response/resolution", "declined"}},
			"task": {s.task(set("/action/checklist", []doc{{"text": "one"}, {"text": "two"}})),
				doc{"resolution": "completed", "checklist": several}, []any{"/response/response/checklist", several}},
			"task dismissed": {s.task(), doc{"resolution": "dismissed"}, []any{"/response/resolution", "dismissed"}},
		} {
			s.run(what, func() {
				set("/state", doc{"深": []any{1, "two", nil}})(c.envelope)
				id := bot.accepted(c.envelope)
				won := s.owner.resolve(id, c.resolve).is(http.StatusOK).shows("/id", id, "/status", c.resolve["resolution"])
				if strings.Contains(string(won.body), "state") {
					s.t.Errorf("the answer to a resolve is %s, want nothing of the agent's state", won.body)
				}
				got := bot.pull(id, "").is(http.StatusOK).shows(c.shows...)
				got.shows("/status", c.resolve["resolution"], "/response/state", c.envelope["state"],
					"/response/resolution_id", won.str("/resolution_id"), "/delivery/state", "delivered-to-agent")
				bot.ack(id, doc{"resolution_id": won.str("/resolution_id")}).is(http.StatusOK)
				bot.pull(id, "").shows("/delivery/state", "acknowledged")
			})
		}
	})
}

func TestB37_AResolveMustFitTheMessage(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		id, form := bot.accepted(s.ask(choose)), bot.accepted(s.ask(fillIn))
		s.owner.answers(id, "other").refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/value")
		s.owner.resolve(id, doc{"resolution": "answered"}).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/value")
		s.owner.resolve(id, doc{"resolution": "maybe"}).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/resolution")
		s.owner.resolve(id, "{").refused(http.StatusBadRequest, ma2h.CodeValidationError, "")
		s.owner.answers(form, doc{"reason": 7}).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/value/reason")
		s.owner.resolve(bot.accepted(s.notify()), doc{"resolution": "answered", "value": "x"}).
			refused(http.StatusBadRequest, ma2h.CodeValidationError, "")
		s.owner.answers(id, "hold").is(http.StatusOK)
	})
}

func TestB40_B41_WhoMayResolve(t *testing.T) {
	onEngines(t, func(s *server) {
		bot, listed, stranger := s.agent("bot"), s.agent("lead"), s.agent("stranger")
		list := set("/request/allowed_resolvers", []string{listed.actor})
		id := bot.accepted(s.ask(list))
		stranger.answers(id, "approve").refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		bot.answers(id, "approve").refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
		s.owner.answers(id, "approve").refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
		listed.answers(id, "approve").is(http.StatusOK)
		bot.pull(id, "").shows("/response/response/actor", listed.actor)

		own := bot.submit(s.ask(set("/request", doc{"mode": "confirm"}))).is(http.StatusAccepted)
		if got := own.header.Get("Mash-Warning"); got != "no_human_resolver" {
			s.t.Errorf("Mash-Warning = %q, want no_human_resolver", got)
		}
		s.owner.answers(own.str("/id"), "approve").refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
		bot.answers(own.str("/id"), "approve").is(http.StatusOK)
	})
}

// TestB41_DefaultResolvers changes the account's settings, and so cannot say what other tests' asks without a list get
// meanwhile; none has one that waits for a person.
func TestB41_DefaultResolversMustBeAddresses(t *testing.T) {
	onEngines(t, func(s *server) {
		put := func(body any) *answer { return s.owner.call(endpoint.SettingsPut, body) }
		put(doc{"default_resolvers": []string{"alice"}}).
			refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/default_resolvers/0")
		put(doc{}).refused(http.StatusBadRequest, ma2h.CodeValidationError, "")
		put(doc{"default_resolvers": []string{}, "more": 1}).refused(http.StatusBadRequest, ma2h.CodeValidationError, "")
		put(doc{"default_resolvers": "human:alice"}).refused(http.StatusBadRequest, ma2h.CodeValidationError, "/default_resolvers")
	})
}

func TestB29_OnlyTheSubmitterPolls(t *testing.T) {
	onEngines(t, func(s *server) {
		bot, other := s.agent("bot"), s.agent("other")
		id := bot.accepted(s.ask())
		const unknown = "msg_00000000000000000000000000"
		for _, c := range []*caller{other, s.owner} {
			foreign := c.pull(id, "").refused(http.StatusNotFound, ma2h.CodeNotFound, "")
			same(s.t, "what an unknown id gets", string(c.pull(unknown, "").body), string(foreign.body))
			c.cancel(id).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
			c.ack(id, nil).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		}
		for _, malformed := range []string{"msg_", "msg_1", "res_" + id[4:], id + "0", id[4:], "MSG_" + id[4:], "%", "ä"} {
			bot.pull(malformed, "").refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		}
		s.read(unknown).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
	})
}

func TestB33_B34_B45_AfterTheDeadlineItHasExpired(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		const span = time.Second
		byDefault := set("/request/default_on_expire", "hold")
		resolved, first := bot.expiring(span, s.ask, choose, byDefault)
		cancelled, second := bot.expiring(span, s.ask, choose, byDefault)
		silent, _ := bot.expiring(span, s.ask)
		task, _ := bot.expiring(span, s.task)
		s.until("the last deadline has passed", func() bool { return bot.pull(task, "").at("/status") == "expired" })
		s.owner.answers(resolved, "ship").refused(http.StatusConflict, ma2h.CodeAlreadyTerminal, "").
			shows("/id", resolved, "/status", "expired", "/resolution", "expired")
		bot.cancel(cancelled).refused(http.StatusConflict, ma2h.CodeAlreadyTerminal, "").shows("/status", "expired")
		for id, deadline := range map[string]time.Time{resolved: first, cancelled: second} {
			bot.pull(id, "").shows("/status", "expired", "/response/response/value", "hold", "/response/defaulted", true,
				"/response/response/resolved_at", ma2h.FormatTime(deadline))
		}
		bot.pull(silent, "").shows("/response/response/value", absent{}, "/response/response/actor", ma2h.ActorDefaultOnExpire)
		bot.pull(task, "").shows("/status", "expired")
		s.until("nothing of it waits", func() bool { return !s.waits(resolved) && !s.waits(silent) && !s.waits(task) })
		bot.submit(s.ask(expires(time.Now().Add(-time.Second)))).
			refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/expires_at")
	})
}

func TestB35_CancelsAndWhatComesAfterThem(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		id, answered := bot.accepted(s.ask()), bot.accepted(s.ask())
		first := bot.cancel(id).is(http.StatusOK).shows("/id", id, "/status", "cancelled")
		same(s.t, "a cancel again", string(bot.cancel(id).is(http.StatusOK).body), string(first.body))
		s.owner.answers(id, "approve").refused(http.StatusConflict, ma2h.CodeAlreadyTerminal, "").shows("/resolution", "cancelled")
		s.owner.answers(answered, "approve").is(http.StatusOK)
		bot.cancel(answered).refused(http.StatusConflict, ma2h.CodeAlreadyTerminal, "").shows("/resolution", "answered")
		bot.cancel(bot.accepted(s.task())).refused(http.StatusBadRequest, ma2h.CodeValidationError, "")
		bot.cancel(bot.accepted(s.notify())).refused(http.StatusBadRequest, ma2h.CodeValidationError, "")
	})
}

func TestB55_B56_AcksWantADeliveredAnswerAndNeverChange(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		id := bot.accepted(s.ask())
		bot.ack(id, nil).refused(http.StatusConflict, ma2h.CodeNotAcknowledgeable, "")
		s.owner.answers(id, "approve").is(http.StatusOK)
		bot.ack(id, nil).refused(http.StatusConflict, ma2h.CodeNotAcknowledgeable, "")
		bot.pull(id, "").is(http.StatusOK)
		bot.ack(id, doc{"resolution_id": "res_other"}).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/resolution_id")
		first := bot.ack(id, doc{"note": "Danke ✓"}).is(http.StatusOK).shows("/note", "Danke ✓")
		same(s.t, "an ack again", string(bot.ack(id, doc{"note": "another"}).is(http.StatusOK).body), string(first.body))
		bot.ack(id, nil).is(http.StatusOK).shows("/note", "Danke ✓")
		s.read(id).shows("/delivery/state", "acknowledged")
	})
}

func TestB76_InexactIntegersComeBackAsTheyCameWithAWarning(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		body := strings.Replace(string(mustJSON(bot.signed(s.ask(set("/state", doc{"n": "N"}))))), `"N"`, "9007199254740993", 1)
		a := bot.submit(body).is(http.StatusAccepted)
		if got := a.header.Get("Mash-Warning"); got != "inexact_number" {
			s.t.Errorf("Mash-Warning = %q, want inexact_number", got)
		}
		if got := bot.pull(a.str("/id"), "").is(http.StatusOK); !strings.Contains(string(got.body), "9007199254740993") {
			s.t.Errorf("the pull is %s, want the number as it came", got.body)
		}
		both := bot.submit(strings.Replace(string(mustJSON(bot.signed(s.ask(set("/state", doc{"n": "N"}),
			set("/request", doc{"mode": "confirm"}))))), `"N"`, "9007199254740993", 1)).is(http.StatusAccepted)
		got := strings.Join(both.header.Values("Mash-Warning"), ",") // the gateway sends them as one
		if strings.ReplaceAll(got, " ", "") != "inexact_number,no_human_resolver" {
			s.t.Errorf("Mash-Warning = %q, want both", got)
		}
	})
}

package controlapi_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// The obligations of the conformance vectors dp-002, dp-010 and dp-026 to dp-029, one test a clause, in their order.

func TestDP002_1_AnotherAgentCannotCancel(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		a, b := s.agent("a"), s.agent("b")
		id := a.accepted(s.ask())
		s.writesNothing(func() { b.cancel(id).refused(http.StatusNotFound, ma2h.CodeNotFound, "") })
		unknown := b.cancel("msg_00000000000000000000000000").is(http.StatusNotFound)
		same(s.t, "what an unknown id gets", string(b.cancel(id).body), string(unknown.body))
		a.get(id).shows("/status", "open")
	})
}

func TestDP002_2_NorReadOrReceiveTheResponse(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		a, b, alice := s.agent("a"), s.agent("b"), s.person("alice")
		id := a.accepted(s.ask(callback("https://a.example/cb")))
		b.accepted(s.ask(callback("https://b.example/cb")))
		alice.answers(id, "approve").is(http.StatusOK)
		same(s.t, "where the Response went", s.onePush().URL, "https://a.example/cb")
		b.get(id).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		b.ack(id, nil).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
	})
}

func TestDP002_3_AfterwardsItIsOpenAndResolvableAsListed(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		a, b, alice := s.agent("a"), s.agent("b"), s.person("alice")
		listed, unlisted := a.accepted(s.ask()), a.accepted(s.ask(none))
		for _, id := range []string{listed, unlisted} {
			b.cancel(id).is(http.StatusNotFound)
			b.get(id).is(http.StatusNotFound)
			a.get(id).shows("/status", "open")
		}
		a.answers(listed, "approve").refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "") // not implicitly added
		alice.answers(listed, "approve").is(http.StatusOK)
		alice.answers(unlisted, "approve").refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
		a.answers(unlisted, "approve").is(http.StatusOK)
	})
}

func TestDP002_4_TheSubmittersCancel(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		a, alice := s.agent("a"), s.person("alice")
		id := a.accepted(s.ask(callback(callbackURL)))
		first := a.cancel(id).is(http.StatusOK).shows("/status", "cancelled")
		same(s.t, "the Response's resolution", lookUp(mustParse(s.t, []byte(s.onePush().Body)), "/resolution"), any("cancelled"))
		a.get(id).shows("/response/resolution", "cancelled")
		same(s.t, "a repeated cancel", string(a.cancel(id).is(http.StatusOK).body), string(first.body))
		other := a.accepted(s.ask())
		alice.answers(other, "deny").is(http.StatusOK)
		a.cancel(other).refused(http.StatusConflict, ma2h.CodeAlreadyTerminal, "")
	})
}

func TestDP010_1_TheFirstAckWins(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		id := bot.accepted(s.ask(callback(callbackURL)))
		alice.answers(id, "approve").is(http.StatusOK)
		first := bot.ack(id, doc{"note": "one"}).is(http.StatusOK)
		s.later(time.Hour)
		same(s.t, "the second ack", string(bot.ack(id, doc{"note": "two"}).is(http.StatusOK).body), string(first.body))
	})
}

func TestDP010_2_OnlyTheSubmitterAcksAndOnlyWhatEnded(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, other, alice := s.agent("bot"), s.agent("other"), s.person("alice")
		id := bot.accepted(s.ask())
		bot.ack(id, nil).refused(http.StatusConflict, ma2h.CodeNotAcknowledgeable, "")
		other.ack(id, nil).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		bot.ack("msg_00000000000000000000000000", nil).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		alice.answers(id, "approve").is(http.StatusOK)
		bot.get(id).is(http.StatusOK)
		other.ack(id, nil).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		bot.ack(id, nil).is(http.StatusOK)
	})
}

func TestDP010_4_TheResponseTrack(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot")
		bot, alice := s.agent("bot"), s.person("alice")
		track := func(id string) any { return alice.read(id).is(http.StatusOK).at("/delivery/state") }
		pulled, pushed := bot.accepted(s.ask()), bot.accepted(s.ask(callback(callbackURL)))
		for _, id := range []string{pulled, pushed} {
			same(s.t, "the track of an open ask", track(id), any(absent{}))
			alice.answers(id, "approve").is(http.StatusOK)
		}
		same(s.t, "the track after an answer", track(pulled), any(absent{}))
		same(s.t, "the track after a push", track(pushed), any("delivered-to-agent"))
		bot.get(pulled).is(http.StatusOK)
		same(s.t, "the track after a GET", track(pulled), any("delivered-to-agent"))
		for _, id := range []string{pulled, pushed} {
			bot.ack(id, nil).is(http.StatusOK)
			same(s.t, "the track after an ack", track(id), any("acknowledged"))
			bot.get(id).shows("/status", "answered", "/response/resolution", "answered") // the resolution is none of its business
		}
		// The owner reads the same track, and nobody else does.
		alice.send("GET", "/_conformance/receipts?id="+pushed, nil).is(http.StatusOK).shows("/state", "acknowledged")
		bot.send("GET", "/_conformance/receipts?id="+pushed, nil).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
	})
}

// dp026 is a select of two options.
func dp026(first, second doc) edit {
	return several(selects, set("/request/options", []doc{first, second}))
}

func TestDP026_1_OneValueTwice(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		twice := dp026(doc{"value": "approve", "label": "Approve and deploy"}, doc{"value": "approve", "label": "Approve but hold"})
		s.writesNothing(func() {
			bot.submit(s.ask(twice)).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/request/options/1/value")
		})
	})
}

func TestDP026_2_ConfirmToo(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		twice := dp026(doc{"value": "approve", "label": "Now"}, doc{"value": "approve", "label": "Later"})
		s.writesNothing(func() {
			bot.submit(s.ask(twice, set("/request/mode", "confirm"))).
				refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/request/options/1/value")
		})
	})
}

func TestDP026_3_DistinctValuesAreAcceptedUnchanged(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		options := []doc{{"value": "a", "label": "Go"}, {"value": "b", "label": "Go", "description": "d"}, {"value": "c", "description": "d"}}
		id := bot.accepted(s.ask(selects, set("/request/options", options)))
		bot.get(id).shows("/request/options", options)
	})
}

func TestDP027_a_b_UnanswerableSchemasAreRefusedAtSubmit(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		for _, schema := range []doc{{"type": "string", "minLength": 1}, {"type": "object"}} {
			key := s.key()
			s.writesNothing(func() {
				a := bot.submit(s.ask(fillIn(), set("/request/schema", schema), set("/idempotency_key", key))).
					refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/request/schema")
				if !strings.Contains(a.str("/error/message"), "request.schema") {
					s.t.Errorf("message %q does not name request.schema", a.str("/error/message"))
				}
			})
			// Nothing is readable under the key: another payload takes it.
			bot.submit(s.notify(set("/idempotency_key", key))).is(http.StatusAccepted)
		}
		same(s.t, "what waits", alice.waiting(), []string{})
	})
}

func TestDP027_c_AnAnswerableSchemaIsAccepted(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		id := bot.accepted(s.ask(fillIn()))
		alice.answers(id, doc{"reason": "because"}).is(http.StatusOK)
		bot.get(id).shows("/response/response/value", doc{"reason": "because"})
	})
}

const offMenu = "hold, until the migration lands"

func TestDP028_1_WithoutAllowEditMembershipIsEnforced(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		id := bot.accepted(s.ask(choose()))
		alice.answers(id, offMenu).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/value")
		bot.get(id).shows("/status", "open")
	})
}

func TestDP028_2_WithItAnyValueIsTakenVerbatim(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		id := bot.accepted(s.ask(choose(), editable()))
		alice.answers(id, offMenu).is(http.StatusOK)
		bot.get(id).shows("/response/response/value", offMenu, "/response/response/edited", true)
	})
}

func TestDP028_3_AListedValueIsNotEdited(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		id := bot.accepted(s.ask(choose(), editable()))
		alice.answers(id, "hold").is(http.StatusOK)
		bot.get(id).shows("/response/response/value", "hold").lacks("/response/response/edited")
	})
}

func TestDP028_4_TheResolversEditedIsIgnored(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		for value, edited := range map[string]any{"hold": absent{}, offMenu: true} {
			for _, claimed := range []any{true, false, "yes"} {
				id := bot.accepted(s.ask(choose(), editable()))
				alice.resolve(id, doc{"resolution": "answered", "value": value, "edited": claimed}).is(http.StatusOK)
				bot.get(id).shows("/response/response/edited", edited)
			}
		}
	})
}

func TestDP028_5_TheSignatureCoversEdited(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		id := bot.accepted(s.ask(choose(), editable(), callback(callbackURL)))
		alice.answers(id, offMenu).is(http.StatusOK)
		p := s.onePush()
		verify(s.t, p)
		part := signatureHeader.FindStringSubmatch(p.Headers["MA2H-Signature"])
		flipped := p
		flipped.Body = strings.Replace(p.Body, `"edited":true`, `"edited":false`, 1)
		if flipped.Body == p.Body || signed(s.t, flipped, part[1], part[2]) == part[3] {
			s.t.Errorf("the signature of %s holds for %s too", p.Body, flipped.Body)
		}
	})
}

func TestDP028_6_DefaultsStayOnTheMenu(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		bot.submit(s.ask(choose(), editable(), set("/request/default_on_expire", offMenu))).
			refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/request/default_on_expire")
		bot.submit(s.ask(choose(), editable(), set("/request/default_on_expire", "hold"))).is(http.StatusAccepted)
	})
}

func TestDP028_7_InputIgnoresIt(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		id := bot.accepted(s.ask(fillIn(), editable()))
		alice.answers(id, doc{"other": 1}).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "")
		alice.answers(id, doc{"reason": offMenu}).is(http.StatusOK)
		bot.get(id).lacks("/response/response/edited")
	})
}

func TestDP029_a_ScalarSchemasAreRefusedAtEveryMinor(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		for _, minor := range []int{5, 4, 3} {
			s.writesNothing(func() {
				bot.submit(s.ask(version(minor), fillIn(), set("/request/schema", doc{"type": "string"}))).
					refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/request/schema")
			})
		}
	})
}

func TestDP029_b_DuplicateValuesAreRefusedAtEveryMinor(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		for _, minor := range []int{5, 4, 3} {
			s.writesNothing(func() {
				bot.submit(s.ask(version(minor), selects, twins)).
					refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/request/options/1/value")
			})
		}
	})
}

func TestDP029_c_AllowEditIsIgnoredBelow06(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		for _, minor := range []int{5, 4, 3} {
			id := bot.accepted(s.ask(version(minor), choose(), editable()))
			alice.answers(id, offMenu).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/value")
			alice.answers(id, "hold").is(http.StatusOK)
		}
		for _, minor := range []int{6, 7} {
			id := bot.accepted(s.ask(version(minor), choose(), editable()))
			alice.answers(id, offMenu).is(http.StatusOK)
		}
	})
}

func TestDP029_d_TheFieldStaysInTheEnvelope(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		envelope := s.ask(version(5), choose(), editable())
		first := bot.submit(envelope).is(http.StatusAccepted)
		id := first.str("/id")
		bot.get(id).shows("/request/permissions", doc{"allow_edit": true})
		again := bot.submit(envelope).is(http.StatusAccepted)
		same(s.t, "the replay", string(again.body), string(first.body))
		alice.answers(id, offMenu).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/value")
	})
}

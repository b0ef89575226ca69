package controlapi_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

func TestB55_RepeatedAckIsTheSameImmutableAck(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		id := bot.accepted(s.ask())
		resolution := alice.answers(id, "approve").is(http.StatusOK).str("/resolution_id")
		bot.get(id).is(http.StatusOK)
		s.later(time.Minute)
		ack := doc{"ma2h_version": "0.6", "type": "ack", "in_reply_to": id, "by": "agent:bot", "acked_at": stamp(s.now),
			"note": "on it", "resolution_id": resolution}
		track := doc{"state": "acknowledged", "delivered_at": stamp(noon), "acknowledged_at": stamp(s.now), "ack": ack}
		first := bot.ack(id, doc{"note": "on it"}).is(http.StatusOK)
		same(s.t, "the ack", first.json(), plain(s.t, ack))
		s.later(time.Hour)
		for _, body := range []any{doc{"note": "on it"}, doc{"note": "another"}, nil, doc{}, doc{"resolution_id": resolution}} {
			s.writesNothing(func() {
				again := bot.ack(id, body).is(http.StatusOK)
				same(s.t, "the ack again", string(again.body), string(first.body))
			})
		}
		bot.get(id).shows("/delivery", track, "/status", "answered", "/response/resolution_id", resolution)
		alice.read(id).shows("/delivery", track)
	})
}

func TestB56_AckNeedsADeliveredAnswer(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		for _, envelope := range []doc{s.ask(), s.task()} {
			id := bot.accepted(envelope)
			bot.ack(id, nil).refused(http.StatusConflict, ma2h.CodeNotAcknowledgeable, "")
			bot.get(id).is(http.StatusOK) // of an open one: delivers nothing
			bot.ack(id, nil).refused(http.StatusConflict, ma2h.CodeNotAcknowledgeable, "")
			resolution := alice.resolve(id, resolveOf(envelope)).is(http.StatusOK).str("/resolution_id")
			s.writesNothing(func() {
				bot.ack(id, doc{"resolution_id": resolution}).refused(http.StatusConflict, ma2h.CodeNotAcknowledgeable, "")
			})
			bot.get(id).is(http.StatusOK)
			bot.ack(id, nil).is(http.StatusOK).shows("/resolution_id", resolution).lacks("/note")
		}
		bot.ack(bot.accepted(s.notify()), nil).refused(http.StatusConflict, ma2h.CodeNotAcknowledgeable, "")
	})
}

func TestB56_AnAckOfAnotherOutcomeIsRefused(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		id := bot.accepted(s.ask())
		alice.answers(id, "approve").is(http.StatusOK)
		bot.get(id).is(http.StatusOK)
		bot.ack(id, doc{"resolution_id": "res_another"}).
			refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/resolution_id")
		bot.get(id).shows("/delivery/state", "delivered-to-agent")
	})
}

func TestB56_OnlyTheSubmitterAcks(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		id := bot.accepted(s.ask(callback(callbackURL)))
		alice.answers(id, "approve").is(http.StatusOK)
		for _, c := range []*caller{s.agent("other"), alice, s.agent("alice")} {
			c.ack(id, nil).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		}
		// A push that was taken is a delivery as a GET is.
		bot.ack(id, nil).is(http.StatusOK)
	})
}

func TestB56_MalformedAcks(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		id := bot.accepted(s.ask(callback(callbackURL)))
		alice.answers(id, "approve").is(http.StatusOK)
		s.writesNothing(func() {
			for _, body := range []string{"null", "[]", `"ok"`, "{", `{"note":7}`, `{"note":null}`, `{"resolution_id":7}`, `{"note":"a","note":"b"}`} {
				bot.ack(id, body).refused(http.StatusBadRequest, ma2h.CodeValidationError, "")
			}
			bot.ack(id, doc{"note": strings.Repeat("é", 2049)}).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/note")
		})
		note := strings.Repeat("é", 2048)
		bot.ack(id, doc{"note": note, "Note": "x", "by": "human:alice"}).is(http.StatusOK).shows("/note", note, "/by", "agent:bot")
	})
}

func TestChoice_HubsOwnObjectsSpeakTheHubsVersion(t *testing.T) {
	onStoresWith(t, doc{"version": "0.4"}, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		for _, minor := range []int{3, 4, 5, 6, 7} {
			v := s.ask(version(minor))["ma2h_version"]
			id := bot.accepted(s.ask(version(minor), callback(callbackURL)))
			alice.answers(id, "approve").is(http.StatusOK)
			p := s.onePush()
			verify(s.t, p)
			(&answer{t: s.t, what: "the push", body: []byte(p.Body)}).shows("/ma2h_version", v)
			bot.get(id).shows("/ma2h_version", v, "/response/ma2h_version", v)
			bot.ack(id, nil).is(http.StatusOK).shows("/ma2h_version", "0.4")
		}
		s.send(request{method: "GET", path: "/.well-known/ma2h"}).is(http.StatusOK).shows("/ma2h_version", "0.4")
	})
}

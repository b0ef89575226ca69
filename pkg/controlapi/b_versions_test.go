package controlapi_test

import (
	"net/http"
	"testing"

	"github.com/mash-hub/mash/pkg/ma2h"
)

func TestB1_UnknownMajorBeforeAnySchemaCheck(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		for _, v := range []string{"1.0", "1.6", "7.0", "10.1"} {
			for what, broken := range map[string]edit{
				"good otherwise":   several(),
				"without a title":  drop("/title"),
				"of no known type": set("/type", "shout"),
				"alike options":    set("/request/options", []doc{{"value": "a"}, {"value": "a"}}),
				"without an agent": drop("/agent"),
				"to somebody":      set("/to", "agent:other"),
			} {
				s.run(v+" "+what, func() {
					bot.submit(s.ask(broken, set("/ma2h_version", v))).
						refused(http.StatusBadRequest, ma2h.CodeVersionNotSupported, "/ma2h_version")
				})
			}
		}
	})
}

func TestB2_NonCanonicalVersions(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		for _, v := range []any{
			"0.03", "00.2", "00.6", "0.00", "0.", ".3", "0", "", "0.3.1", "v0.3", " 0.3", "0.3 ", "0.+3", "-0.3", "0.3\n",
			"0x0.3", "٠.٣", "0,3", 0.3, nil, []string{"0.3"},
		} {
			for what, way := range map[string]edit{"pull": several(), "push": callback("https://agent.example/cb")} {
				s.run(what+" "+string(mustJSON(v)), func() {
					bot.submit(s.ask(way, set("/ma2h_version", v))).
						refused(http.StatusBadRequest, ma2h.CodeValidationError, "/ma2h_version")
				})
			}
		}
		bot.submit(s.ask(drop("/ma2h_version"))).refused(http.StatusBadRequest, ma2h.CodeValidationError, "/ma2h_version")
	})
}

func TestB3_PushGateStaysAtMinor3(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		push := callback("https://agent.example/cb")
		pull := several(push, set("/request/callback/mode", "pull"))
		for _, minor := range []int{0, 1, 2} {
			bot.submit(s.ask(version(minor), push)).
				refused(http.StatusBadRequest, ma2h.CodeVersionNotSupported, "/ma2h_version")
			// A url without a mode is a push too, and so is a task's.
			bot.submit(s.ask(version(minor), push, drop("/request/callback/mode"))).
				refused(http.StatusBadRequest, ma2h.CodeVersionNotSupported, "/ma2h_version")
			bot.submit(s.task(version(minor), set("/action/callback", doc{"mode": "push", "url": "https://agent.example/cb",
				"auth": doc{"scheme": "hmac", "secret_ref": "env:S"}}))).
				refused(http.StatusBadRequest, ma2h.CodeVersionNotSupported, "/ma2h_version")
			bot.submit(s.ask(version(minor), pull)).is(http.StatusAccepted)
			bot.submit(s.ask(version(minor))).is(http.StatusAccepted)
			bot.submit(s.notify(version(minor))).is(http.StatusAccepted)
		}
		for _, minor := range []int{3, 4, 5, 6, 7, 29} {
			bot.submit(s.ask(version(minor), push)).is(http.StatusAccepted)
		}
	})
}

func TestB4_AddressesBelow05AreNeverMisrouted(t *testing.T) {
	onStores(t, func(t *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		for _, minor := range []int{0, 1, 2, 3, 4} {
			for what, address := range map[string]struct {
				edit  edit
				field string
			}{
				"to":             {set("/to", "agent:other"), "/to"},
				"to of no form":  {set("/to", 7), "/to"},
				"to null":        {set("/to", nil), "/to"},
				"session":        {set("/agent/session", "sess_1"), "/agent/session"},
				"session broken": {set("/agent/session", "nonsense"), "/agent/session"},
			} {
				s.run(what, func() {
					for _, e := range []doc{s.ask(version(minor), address.edit), s.notify(version(minor), address.edit)} {
						bot.submit(e).refused(http.StatusBadRequest, ma2h.CodeValidationError, address.field)
					}
				})
			}
		}
		same(t, "what waits", alice.waiting(), []string{})
	})
}

func TestB5_BodyMustBeAnObject(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		for _, body := range []string{"null", "[]", `[{"ma2h_version":"0.6"}]`, `"ask"`, "7", "true", "", "   ", "{} {}"} {
			s.run(body, func() {
				bot.submit(body).refused(http.StatusBadRequest, ma2h.CodeValidationError, "")
			})
		}
	})
}

func TestB5_UnknownFieldsAreIgnoredAndNotStored(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		// Some have names that the hub's own answer uses: believing them would let an agent fake its outcome.
		id := bot.accepted(s.ask(
			set("/x_future", doc{"deep": 1}), set("/Title", "Another"), set("/EXPIRES_AT", stamp(noon.Add(-1))),
			set("/id", "msg_mine"), set("/status", "answered"), set("/mailbox", doc{"state": "acknowledged"}),
			set("/response", doc{"value": "approve"}), set("/delivery", doc{"state": "acknowledged"}),
			set("/resolution_id", "res_mine"), set("/destination", doc{"state": "online"}),
		))
		bot.get(id).is(http.StatusOK).
			shows("/id", id, "/status", "open", "/title", "Ship it?").
			lacks("/x_future", "/Title", "/EXPIRES_AT", "/mailbox", "/response", "/delivery", "/resolution_id", "/destination")
		alice.answers(id, "deny").is(http.StatusOK)
		bot.get(id).is(http.StatusOK).shows("/response/response/value", "deny", "/delivery/state", "delivered-to-agent")
	})
}

func TestB6_HashIDsSendNoAddresses(t *testing.T) {
	onStores(t, func(t *testing.T, s *suite) {
		alice := s.person("alice")
		for _, id := range []string{"a#b", "#", "bot#sess_1"} {
			bot := s.agent(id)
			// Before the schema: the rest of the envelope may be as wrong as it likes.
			for _, rest := range []edit{several(), drop("/title"), drop("/request"), set("/type", "shout"), version(5)} {
				bot.submit(s.ask(rest, set("/to", "agent:other"))).
					refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/to")
				bot.submit(s.ask(rest, set("/to", "nonsense"))).
					refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/to")
				bot.submit(s.ask(rest, set("/agent/session", "sess_1"))).
					refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/agent/session")
			}
			same(t, "what waits", alice.waiting(), []string{})
		}
	})
}

func TestB6_HashIDsReachThePersonAllTheSame(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("a#b"), s.person("alice")
		bot.submit(s.notify()).is(http.StatusAccepted).shows("/status", "delivered")
		id := bot.accepted(s.ask())
		alice.answers(id, "approve").is(http.StatusOK)
		bot.get(id).is(http.StatusOK).shows("/status", "answered", "/response/agent/id", "a#b")
		bot.ack(id, nil).is(http.StatusOK).shows("/by", "agent:a#b")
		bot.cancel(bot.accepted(s.ask())).is(http.StatusOK).shows("/status", "cancelled")
		// Cutting the id at its # would make it another agent.
		s.agent("a").get(id).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
	})
}

package controlapi_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

func TestB15_ExpiresAtMustLieInTheFuture(t *testing.T) {
	onStores(t, func(t *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		for what, envelope := range map[string]func(...edit) doc{"notify": s.notify, "ask": s.ask, "task": s.task} {
			s.run(what, func() {
				for _, at := range []string{
					"2020-01-01T00:00:00Z", stamp(noon.Add(-time.Millisecond)), stamp(noon), "2026-03-14T13:00:00+01:00",
				} {
					bot.submit(envelope(expires(at))).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/expires_at")
				}
				for _, at := range []string{stamp(noon.Add(time.Millisecond)), "2026-03-14T13:00:00.001+01:00"} {
					bot.submit(envelope(expires(at))).is(http.StatusAccepted)
				}
				for _, at := range []string{"tomorrow", "2026-03-15", "2026-03-15 12:00:00Z", "1773500000", ""} {
					bot.submit(envelope(expires(at))).refused(http.StatusBadRequest, ma2h.CodeValidationError, "/expires_at")
				}
			})
		}
		same(t, "how many wait", len(alice.waiting()), 4)
	})
}

func TestB16_KeysBelongToTheAgentWhateverTheRun(t *testing.T) {
	onStores(t, func(t *testing.T, s *suite) {
		bot, other, alice := s.agent("bot"), s.agent("other"), s.person("alice")
		key := set("/idempotency_key", "k")
		id := bot.accepted(s.ask(key))
		s.later(time.Hour)
		bot.submit(s.ask(key, set("/agent/run_id", "run-2"))).is(http.StatusAccepted).shows("/id", id)
		if theirs := other.accepted(s.ask(key)); theirs == id {
			s.t.Errorf("two agents with one key share the message %s", id)
		}
		same(t, "how many wait", len(alice.waiting()), 2)
		// The first run stays the Caller that the Response names.
		alice.answers(id, "approve").is(http.StatusOK)
		bot.get(id).shows("/response/agent", doc{"id": "bot", "run_id": "run-1"}, "/agent/run_id", "run-1")
	})
}

func TestB17_OnlyTheRunMayDiffer(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		whole := several(
			set("/idempotency_key", "k"), set("/body", "Why."), set("/priority", "high"), set("/tags", []string{"a", "b"}),
			set("/context", []doc{{"kind": "data", "data": doc{"n": []int{1, 2}}}}), set("/state", doc{"step": 3}),
			set("/client_ref", "ref"), expires(stamp(noon.Add(time.Hour))), set("/agent/project", "web"),
			set("/agent/labels", doc{"model": "m"}), set("/agent/runtime", "cli"), choose(),
			set("/request/default_on_expire", "hold"), callback("https://agent.example/cb"),
		)
		first := bot.submit(s.ask(whole)).is(http.StatusAccepted)
		id := first.str("/id")
		for what, difference := range map[string]edit{
			"version":    version(5),
			"created_at": set("/created_at", "2026-03-14T11:59:01Z"),
			"title":      set("/title", "Ship it now?"),
			"body":       set("/body", "Why not."),
			"no body":    drop("/body"),
			"priority":   set("/priority", "low"),
			"tags":       set("/tags", []string{"b", "a"}),
			"context":    set("/context", []doc{{"kind": "data", "data": doc{"n": []int{2, 1}}}}),
			"state":      set("/state/step", 4),
			"client_ref": set("/client_ref", "other"),
			"expiry":     expires(stamp(noon.Add(2 * time.Hour))),
			"sensitive":  set("/sensitive", true),
			"project":    set("/agent/project", "app"),
			"labels":     set("/agent/labels/model", "n"),
			"runtime":    set("/agent/runtime", "cloud"),
			"mode":       several(set("/request/mode", "confirm")),
			"an option":  set("/request/options", []doc{{"value": "ship"}, {"value": "hold"}}),
			"default":    set("/request/default_on_expire", "ship"),
			"resolvers":  resolvers("human:bob"),
			"callback":   set("/request/callback/url", "https://agent.example/cc"),
			"permission": set("/request/permissions/allow_ignore", false),
			"unknown":    set("/x_unknown", 1),
		} {
			s.run(what, func() {
				s.writesNothing(func() {
					bot.submit(s.ask(whole, difference)).
						refused(http.StatusConflict, ma2h.CodeIdempotencyConflict, "/idempotency_key").shows("/id", id)
				})
			})
		}
		replayed := bot.submit(s.ask(whole, set("/agent/run_id", "run-77"))).is(http.StatusAccepted)
		same(s.t, "the replay", replayed.json(), first.json())
	})
}

func TestB17_VerbsDifferToo(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		key := set("/idempotency_key", "k")
		bot.submit(s.notify(key)).is(http.StatusAccepted)
		bot.submit(s.ask(key)).refused(http.StatusConflict, ma2h.CodeIdempotencyConflict, "/idempotency_key")
		bot.submit(s.notify(key)).is(http.StatusAccepted).shows("/status", "delivered")
	})
}

func TestB18_ReplayReturnsTheIDAndTheStatusNow(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		for want, ended := range map[string]struct {
			envelope func(...edit) doc
			end      func(id string)
		}{
			"open":      {s.ask, func(string) {}},
			"answered":  {s.ask, func(id string) { alice.answers(id, "deny").is(http.StatusOK) }},
			"declined":  {s.ask, func(id string) { alice.resolve(id, doc{"resolution": "declined"}).is(http.StatusOK) }},
			"cancelled": {s.ask, func(id string) { bot.cancel(id).is(http.StatusOK) }},
			"completed": {s.task, func(id string) { alice.resolve(id, doc{"resolution": "completed"}).is(http.StatusOK) }},
			"dismissed": {s.task, func(id string) { alice.resolve(id, doc{"resolution": "dismissed"}).is(http.StatusOK) }},
			"delivered": {s.notify, func(string) {}},
			// Nobody has looked since the deadline: the replay itself settles it.
			"expired": {s.ask, func(string) { s.later(2 * time.Hour) }},
		} {
			s.run(want, func() {
				s.now = noon
				same := several(set("/idempotency_key", want), expires(stamp(noon.Add(time.Hour))))
				first := bot.submit(ended.envelope(same)).is(http.StatusAccepted)
				ended.end(first.str("/id"))
				bot.submit(ended.envelope(same)).is(http.StatusAccepted).shows("/id", first.str("/id"), "/status", want,
					"/poll_url", first.str("/poll_url"), "/review_url", first.str("/review_url")).lacks("/destination")
			})
		}
	})
}

func TestB20_ConcurrentIdenticalSubmitsMakeOneMessage(t *testing.T) {
	onStores(t, func(t *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		envelope := s.ask(set("/agent/id", "bot"))
		var mu sync.Mutex
		ids := map[string]int{}
		var racers sync.WaitGroup
		for range 50 {
			racers.Go(func() {
				a, err := s.try(request{method: "POST", path: "/v1/messages", token: bot.token, body: envelope})
				mu.Lock()
				defer mu.Unlock()
				if err != nil || a.status != http.StatusAccepted {
					s.t.Errorf("submit = %+v, error %v, want 202", a, err)
					return
				}
				ids[lookUp(mustParse(t, a.body), "/id").(string)]++
			})
		}
		racers.Wait()
		if len(ids) != 1 {
			s.t.Errorf("%d messages %v, want 1", len(ids), ids)
		}
		same(t, "how many wait", len(alice.waiting()), 1)
	})
}

func TestB20_ConcurrentSubmitsOfOneKeyThatDiffer(t *testing.T) {
	onStores(t, func(t *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		var mu sync.Mutex
		statuses := map[int]int{}
		var racers sync.WaitGroup
		for i := range 20 {
			envelope := s.ask(set("/agent/id", "bot"), set("/idempotency_key", "k"), set("/state/n", i))
			racers.Go(func() {
				a, err := s.try(request{method: "POST", path: "/v1/messages", token: bot.token, body: envelope})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				statuses[a.status]++
			})
		}
		racers.Wait()
		same(t, "answers by status", statuses, map[int]int{http.StatusAccepted: 1, http.StatusConflict: 19})
		same(t, "how many wait", len(alice.waiting()), 1)
	})
}

func TestB21_StatusOfTheAck(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		for status, envelopes := range map[string][]doc{
			"delivered": {s.notify(), s.notify(drop("/idempotency_key")), s.notify(version(1))},
			"open":      {s.ask(), s.task(), s.ask(version(2)), s.ask(version(1), drop("/idempotency_key"))},
		} {
			for _, e := range envelopes {
				a := bot.submit(e).is(http.StatusAccepted).shows("/status", status).lacks("/destination")
				id := a.str("/id")
				a.shows("/poll_url", "https://hub.example/v1/messages/"+id, "/review_url", "https://hub.example/inbox/"+id)
				bot.get(id).is(http.StatusOK).shows("/id", id, "/status", status)
			}
		}
	})
}

func TestB82_PayloadsAreComparedAsJSON(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		body := func(key, rest string) string {
			return `{"ma2h_version":"0.6","type":"notify","created_at":"2026-03-14T11:59:00Z","agent":{"id":"bot","run_id":"r"},` +
				`"idempotency_key":` + key + `,"title":"T",` + rest + `}`
		}
		first := bot.submit(body(`"k"`, `"body":"Aé","state":{"a":1,"b":[1.5,100],"c":{"x":null,"y":true}}`)).is(http.StatusAccepted)
		for what, again := range map[string]string{
			"member order":         body(`"k"`, `"state":{"c":{"y":true,"x":null},"b":[1.5,100],"a":1},"body":"Aé"`),
			"blanks":               body(`"k"`, "\n \"body\" : \"Aé\" ,\t\"state\": {\"a\":1,\"b\":[1.5, 100],\"c\":{\"x\":null,\"y\":true}}"),
			"spelling of numbers":  body(`"k"`, `"body":"Aé","state":{"a":1.0,"b":[15e-1,1E2],"c":{"x":null,"y":true}}`),
			"escapes":              body(`"\u006b"`, `"bod\u0079":"\u0041\u00e9","state":{"\u0061":1,"b":[1.5,100],"c":{"x":null,"y":true}}`),
			"an agent's own order": `{"agent":{"run_id":"r","id":"bot"},"ma2h_version":"0.6","type":"notify","created_at":"2026-03-14T11:59:00Z","idempotency_key":"k","title":"T","body":"Aé","state":{"a":1,"b":[1.5,100],"c":{"x":null,"y":true}}}`,
		} {
			s.run(what, func() {
				bot.submit(again).is(http.StatusAccepted).shows("/id", first.str("/id"))
			})
		}
		for what, other := range map[string]string{
			"code points":      body(`"k"`, `"body":"Ae\u0301","state":{"a":1,"b":[1.5,100],"c":{"x":null,"y":true}}`),
			"order in arrays":  body(`"k"`, `"body":"Aé","state":{"a":1,"b":[100,1.5],"c":{"x":null,"y":true}}`),
			"null and nothing": body(`"k"`, `"body":"Aé","state":{"a":1,"b":[1.5,100],"c":{"y":true}}`),
			"text and number":  body(`"k"`, `"body":"Aé","state":{"a":"1","b":[1.5,100],"c":{"x":null,"y":true}}`),
			"case of a member": body(`"k"`, `"body":"Aé","state":{"A":1,"b":[1.5,100],"c":{"x":null,"y":true}}`),
			"a blank":          body(`"k"`, `"body":"Aé ","state":{"a":1,"b":[1.5,100],"c":{"x":null,"y":true}}`),
		} {
			s.run(what, func() {
				bot.submit(other).refused(http.StatusConflict, ma2h.CodeIdempotencyConflict, "/idempotency_key")
			})
		}
	})
}

func TestB82_KeysAreComparedByByte(t *testing.T) {
	onStores(t, func(t *testing.T, s *suite) {
		bot := s.agent("bot")
		ids := map[string]string{}
		for _, key := range []string{"key", "Key", "key ", " key", "k\u00e9", "ke\u0301", "k\u0000", "k", "KEY", "\uff4bey"} {
			id := bot.accepted(s.notify(set("/idempotency_key", key)))
			if twin, taken := ids[id]; taken {
				s.t.Errorf("keys %q and %q name one message", key, twin)
			}
			ids[id] = key
		}
	})
}

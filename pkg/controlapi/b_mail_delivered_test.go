package controlapi_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"time"
)

// everyKind leaves one entry of each kind in the session of worker, and returns them as they are drained.
func everyKind(s *suite, worker *mouth) []*entry {
	s.t.Helper()
	bot, alice := s.agent("bot"), s.person("alice")
	s.direct(worker.address(), set("/body", "é\u2028 <&>"), set("/tags", []string{"a", "é"}), set("/priority", "high"),
		set("/context", []doc{{"kind": "data", "data": doc{"n": rawJSON("1e2"), "z": nil}}}), expires(stamp(noon.Add(5*time.Minute))))
	bot.accepted(s.ask(mailTo(worker.address()), choose(), set("/body", "Why."), set("/sensitive", true), set("/state", doc{"n": 1})))
	doomed := bot.opens(0)
	worker.accepted(s.notify(mailTo(doomed.address()), worker.as()))
	id := worker.asked(set("/state", doc{"n": rawJSON("1.50")}))
	alice.answers(id, "approve").is(http.StatusOK)
	task := worker.accepted(s.task(worker.as()))
	alice.resolve(task, doc{"resolution": "completed"}).is(http.StatusOK) // a Response without a response
	doomed.closes().is(http.StatusOK)                                     // leaves a receipt
	entries := worker.drain()
	same(s.t, "kinds", kinds(entries), []string{"directive", "message", "response", "response", "receipt"})
	return entries
}

func TestB50_RedeliveriesAreSignedAnew(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		worker := s.agent("worker").opens(0)
		first := everyKind(s, worker)
		for range 2 {
			s.later(window + time.Second)
			again := worker.drain() // each verified at the new time, each nonce new
			same(s.t, "keys", keys(again), keys(first))
			for i, e := range again {
				same(s.t, "the content of "+e.what, string(e.body), string(first[i].body))
				same(s.t, "t of "+e.what, e.header.Time.Unix(), s.now.Unix())
				if e.line == first[i].line {
					s.t.Errorf("%s is signed as before: %s", e.what, e.line)
				}
			}
		}
		// Another's session cannot verify what was signed for this one.
		for _, e := range first {
			c, err := e.context("agent:worker#sess_00000000000000000000000000")
			if err != nil {
				s.t.Fatal(err)
			}
			_, err = c.Verify(e.line, noon.Add(time.Minute), time.Hour, key())
			if bound := e.kind == "directive" || e.kind == "message"; (err == nil) != bound {
				s.t.Errorf("%s of kind %s, verified for another session: %v", e.what, e.kind, err)
			}
		}
	})
}

// TestB77_SignedContextsOfEntries recomputes each from the text of the specification (§9.7, §9.8).
func TestB77_SignedContextsOfEntries(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		worker := s.agent("worker").opens(0)
		s.now = noon.Add(700 * time.Millisecond)
		nulls := 0
		for _, e := range everyKind(s, worker) {
			part := signatureHeader.FindStringSubmatch(strings.TrimPrefix(e.line, "MA2H-Signature: "))
			if part == nil {
				s.t.Fatalf("the signature of %s is %q", e.what, e.line)
			}
			context := signedContext(s.t, e, worker.address())
			if at, ok := context["resolved_at"]; ok && at == nil {
				nulls++
			}
			context["t"], context["jti"] = part[1], part[2]
			mac := hmac.New(sha256.New, []byte(signingKey))
			mac.Write(canonical(s.t, context))
			same(s.t, "the signature of the "+e.kind, part[3], base64.RawURLEncoding.EncodeToString(mac.Sum(nil)))
		}
		same(s.t, "Responses without a response", nulls, 1)
	})
}

// signedContext is what the specification wants signed of an entry, but for t and jti.
func signedContext(t *testing.T, e *entry, to string) doc {
	t.Helper()
	body := e.json().(map[string]any)
	digest := func(o doc) string {
		sum := sha256.Sum256(canonical(t, o))
		return hex.EncodeToString(sum[:])
	}
	present := func(names ...string) doc {
		d := doc{}
		for _, name := range names {
			if v, ok := body[name]; ok {
				d[name] = v
			}
		}
		return d
	}
	switch e.kind {
	case "directive":
		return doc{"from": body["from"], "id": body["id"], "ma2h_version": body["ma2h_version"], "to": body["to"],
			"payload_sha256": digest(doc{"directive": present("title", "body", "priority", "tags", "context")})}
	case "message":
		return doc{"from": body["from"], "id": body["id"], "ma2h_version": body["ma2h_version"], "to": body["to"],
			"payload_sha256": digest(doc{"message": present("type", "title", "body", "priority", "tags", "context", "request", "action", "sensitive")})}
	case "response":
		var resolvedAt any
		if detail, ok := body["response"].(map[string]any); ok {
			resolvedAt = detail["resolved_at"]
		}
		return doc{"id": body["in_reply_to"], "in_reply_to": body["in_reply_to"], "ma2h_version": body["ma2h_version"],
			"payload_sha256": digest(doc{"response": body["response"], "state": body["state"]}), "resolution": body["resolution"],
			"resolution_id": body["resolution_id"], "resolved_at": resolvedAt, "to": to}
	}
	return doc{"in_reply_to": body["in_reply_to"], "ma2h_version": body["ma2h_version"], "to": to, "receipt_sha256": digest(doc{
		"at": body["at"], "event": body["event"], "id": body["id"], "in_reply_to": body["in_reply_to"], "prior": body["prior"],
		"session": body["session"]})}
}

// TestB52_TheDeliveredForm: the envelope as it was accepted, with id and from, without what is the sender's alone.
func TestB52_TheDeliveredForm(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		bot, worker := s.agent("bot").opens(0), s.agent("worker").opens(0)
		private := several(set("/state", doc{"secret": 1}), set("/client_ref", "mine"))
		stranger := several(set("/from", "agent:worker"), set("/id", "msg_mine"), set("/x_future", 1), set("/agent/x_future", 1), set("/status", "answered"),
			set("/mailbox", doc{"state": "acknowledged"}))
		rest := several(set("/body", "Why."), set("/priority", "high"), set("/tags", []string{"a"}), expires(stamp(noon.Add(time.Hour))),
			set("/context", []doc{{"kind": "text", "text": "t", "metadata": doc{"k": []int{1}}}}), set("/agent/project", "web"),
			set("/agent/labels", doc{"model": "m"}), set("/agent/runtime", "cli"), set("/sensitive", true))
		taskCallback := set("/action/callback", doc{"mode": "push", "url": callbackURL, "auth": doc{"scheme": "hmac", "secret_ref": "env:S"}})
		for what, c := range map[string]struct {
			base    func(...edit) doc
			private edit
		}{
			"ask": {s.ask, callback(callbackURL)}, "task": {s.task, taskCallback}, "notify": {s.notify, several()},
		} {
			for _, to := range []string{"agent:worker", worker.address()} {
				for _, as := range []edit{several(), bot.as()} {
					for _, more := range []edit{several(), rest} {
						s.run(what, func() {
							key := set("/idempotency_key", s.key())
							sent := c.base(key, mailTo(to), as, more)
							sent["agent"].(doc)["id"] = "bot"
							id := bot.accepted(edited(clone(sent).(doc), []edit{private, stranger, c.private}))
							sent["id"], sent["from"] = id, "agent:bot"
							if sent["agent"].(doc)["session"] != nil {
								sent["from"] = bot.address()
							}
							same(s.t, "what is delivered", worker.one("message").json(), plain(s.t, sent))
							// Its sender still has all of it.
							bot.get(id).shows("/state", doc{"secret": 1}, "/client_ref", "mine")
						})
					}
				}
			}
		}
	})
}

func TestB52_FromIsAttested(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		bot, sibling := s.agent("bot").opens(0), s.agent("bot").opens(0)
		worker, alice := s.agent("worker").opens(0), s.person("alice")
		for _, as := range []*mouth{bot, sibling} { // exactly the one that the submit named
			id := bot.accepted(s.notify(mailTo("agent:worker"), as.as(), set("/from", "human:alice")))
			worker.gets(id)[0].shows("/from", as.address(), "/agent/session", as.session)
		}
		id := alice.send("POST", "/v1/directives", doc{"to": "agent:worker", "title": "T"}).is(http.StatusCreated).str("/id")
		worker.gets(id)[0].shows("/from", "human:alice", "/to", "agent:worker", "/created_at", stamp(noon), "/type", "directive")
		// A sender speaks 0.5, its message stays 0.5; what the hub writes is of the hub's version.
		id = bot.accepted(s.notify(version(5), mailTo("agent:worker")))
		worker.gets(id)[0].shows("/ma2h_version", "0.5")
	})
}

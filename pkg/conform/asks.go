package conform

import (
	"net/http"
	"strings"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/signature"
)

// dp026 is about options whose value occurs twice.
func dp026() []Clause {
	return []Clause{
		{Name: "dp-026.1", Section: "5.2", Title: "a value twice among the options is refused", test: func(t *trial) { valueTwice(t, "select") }},
		{Name: "dp-026.2", Section: "5.2", Title: "for a confirm with options, too", test: func(t *trial) { valueTwice(t, "confirm") }},
		{Name: "dp-026.3", Section: "5.2", Title: "labels may be alike", test: labelsAlike},
	}
}

func options(list ...doc) []doc { return list }

func twins() []doc {
	return options(doc{"value": "approve", "label": "Now"}, doc{"value": "approve", "label": "Later"})
}

// unacceptable submits what has to be refused with 422 and not be kept: its key is free afterwards.
func (c *caller) unacceptable(d doc, want string) *answer {
	key := "key_" + ma2h.NewTail()
	a := c.submit(d.with("idempotency_key", key)).refused(http.StatusUnprocessableEntity, want, ma2h.CodeInvalidField)
	c.submit(asks("").with("idempotency_key", key)).
		is(http.StatusAccepted, "what is refused creates nothing, so its idempotency_key is free (spec §8.1)")
	return a
}

func valueTwice(t *trial, mode string) {
	t.agent("a").unacceptable(asks("").request("mode", mode, "options", twins()), "an option's value must be its own (spec §5.2)")
}

func labelsAlike(t *trial) {
	a := t.agent("a")
	given := options(doc{"value": "a", "label": "Go"}, doc{"value": "b", "label": "Go", "description": "d"}, doc{"value": "c", "description": "d"})
	id := a.accepted(asks("").request("mode", "select", "options", given))
	read := a.pull(id)
	for i, o := range given {
		for name, v := range o {
			pointer := "/request/options/" + string(rune('0'+i)) + "/" + name
			t.hold(read.at(pointer) == v, "options as they were sent: %s is %v (spec §5.2)", pointer, v)
		}
	}
}

// dp027 is about the schema of a form.
func dp027() []Clause {
	return []Clause{
		{Name: "dp-027.1", Section: "5.2", Title: "a schema that no object answers is refused", test: func(t *trial) {
			unanswerable(t, doc{"type": "string", "minLength": 1})
		}},
		{Name: "dp-027.2", Section: "5.2", Title: "one without properties, too", test: func(t *trial) { unanswerable(t, doc{"type": "object"}) }},
		{Name: "dp-027.3", Section: "5.2", Title: "one of an object is accepted, and answered", test: answerable},
	}
}

func form() doc {
	return doc{"type": "object", "properties": doc{"reason": doc{"type": "string"}}, "required": []string{"reason"}}
}

func unanswerable(t *trial, schema doc) {
	a := t.agent("a").unacceptable(asks("").request("mode", "input", "schema", schema), "a form that cannot be answered is refused at once (spec §5.2)")
	t.hold(strings.Contains(a.str("/error/message"), "request.schema") || strings.Contains(a.str("/error/field"), "schema"),
		"an error that names request.schema (spec §5.2)")
}

func answerable(t *trial) {
	a, person := t.agent("a"), t.person()
	id := a.accepted(asks("").request("mode", "input", "schema", form()).by(person.actor))
	person.answers(id, doc{"reason": "because"})
	a.pull(id).shows("/response/response/value/reason", "because", "the object that was answered (spec §6)")
}

// dp028 is about answers that are none of the options.
func dp028() []Clause {
	return []Clause{
		{Name: "dp-028.1", Section: "5.2", Title: "without allow_edit an answer is one of the options", test: onMenu},
		{Name: "dp-028.2", Section: "6", Title: "with it any text is taken, and marked edited", test: offMenuTaken},
		{Name: "dp-028.3", Section: "6", Title: "an option is not edited, with it or without", test: listedNotEdited},
		{Name: "dp-028.4", Section: "8.8", Title: "what the resolver says of edited is ignored", test: editedIgnored},
		{Name: "dp-028.5", Section: "9.2", Title: "the signature of a push covers edited", test: editedSigned},
		{Name: "dp-028.6", Section: "7", Title: "a default is one of the options, even with it", test: defaultsOnMenu},
		{Name: "dp-028.7", Section: "5.2", Title: "a form knows neither", test: formsIgnoreIt},
	}
}

const offMenu = "hold, until the migration lands"

// choice is a select of ship or hold.
func choice(by string) doc {
	return asks("").request("mode", "select", "options", options(doc{"value": "ship"}, doc{"value": "hold"})).by(by)
}

func (d doc) editable() doc { return d.request("permissions", doc{"allow_edit": true}) }

func onMenu(t *trial) {
	a, person := t.agent("a"), t.person()
	id := a.accepted(choice(person.actor))
	person.resolve(id, answered(offMenu)).
		refused(http.StatusUnprocessableEntity, "an answer is one of the options (spec §5.2)", ma2h.CodeInvalidField)
	a.pull(id).shows("/status", "open", "an answer that is refused changes nothing (spec §8.8)")
}

func offMenuTaken(t *trial) {
	a, person := t.agent("a"), t.person()
	id := a.accepted(choice(person.actor).editable())
	person.answers(id, offMenu)
	read := a.pull(id).shows("/response/response/value", offMenu, "the text as it was given (spec §6)")
	t.hold(read.at("/response/response/edited") == true, "edited: true (spec §6)")
}

func listedNotEdited(t *trial) {
	a, person := t.agent("a"), t.person()
	id := a.accepted(choice(person.actor).editable())
	person.answers(id, "hold")
	t.hold(a.pull(id).at("/response/response/edited") != true, "edited is false or absent for an option (spec §6)")
}

func editedIgnored(t *trial) {
	a, person := t.agent("a"), t.person()
	for _, c := range []struct {
		value           string
		claimed, edited bool
	}{{"hold", true, false}, {offMenu, false, true}} {
		id := a.accepted(choice(person.actor).editable())
		person.resolve(id, answered(c.value).with("edited", c.claimed)).is(http.StatusOK, "edited in a resolve is ignored (spec §8.8)")
		got, _ := a.pull(id).at("/response/response/edited").(bool)
		t.hold(got == c.edited, "edited: %t, as the hub computes it (spec §8.8)", c.edited)
	}
}

func editedSigned(t *trial) {
	a, person := t.agent("a"), t.person()
	at, err := t.home.callback(t.ctx, a.principal)
	t.able(err, "a callback")
	id := a.accepted(choice(person.actor).editable().request("callback",
		doc{"mode": "push", "url": at.url, "auth": doc{"scheme": "hmac", "secret_ref": a.secretRef}}))
	person.answers(id, offMenu)
	var came []push
	t.soon(func() bool {
		came, err = at.fetch(t.ctx)
		t.able(err, "pushes")
		return len(came) > 0
	}, "the Response pushed to %s (spec §8.3)", at.url)
	p := came[0]
	t.saw(http.StatusOK, p.body, "a push to "+at.url)
	t.hold(signedFor(t, p, p.body, a.secret), "a push whose signature verifies (spec §9.2)")
	flipped := (&answer{t: t, body: p.body}).tampered(`"edited":true`, `"edited":false`)
	t.hold(!signedFor(t, p, flipped.body, a.secret), "a signature that does not hold once edited is flipped (spec §9.2)")
}

// signedFor says whether the signature of a push covers a body.
func signedFor(t *trial, p push, body []byte, secret string) bool {
	covered, err := signature.Response(body, p.url)
	if err != nil {
		t.fail("a body that can be signed (spec §9.2): %v", err)
	}
	_, err = covered.Verify(p.signature, t.home.now(), seconds(t.can.Replay), signature.HMAC(secret))
	return err == nil
}

func defaultsOnMenu(t *trial) {
	a, person := t.agent("a"), t.person()
	a.submit(choice(person.actor).editable().request("default_on_expire", offMenu)).
		refused(http.StatusUnprocessableEntity, "a default is one of the options (spec §7)", ma2h.CodeInvalidField)
	a.accepted(choice(person.actor).editable().request("default_on_expire", "hold"))
}

func formsIgnoreIt(t *trial) {
	a, person := t.agent("a"), t.person()
	id := a.accepted(asks("").request("mode", "input", "schema", form()).by(person.actor).editable())
	person.resolve(id, answered(doc{"other": 1})).
		refused(http.StatusUnprocessableEntity, "an answer that fits the schema (spec §5.2)", ma2h.CodeInvalidField)
	person.answers(id, doc{"reason": offMenu})
	t.hold(a.pull(id).at("/response/response/edited") != true, "edited is false or absent for a form (spec §6)")
}

// dp029 is about which rules depend on the version that an envelope declares.
func dp029() []Clause {
	return []Clause{
		{Name: "dp-029.1", Section: "10", Title: "a schema that no object answers is refused from 0.3 on", test: func(t *trial) {
			everyMinor(t, func() doc { return asks("").request("mode", "input", "schema", doc{"type": "string"}) })
		}},
		{Name: "dp-029.2", Section: "10", Title: "a value twice is refused from 0.3 on", test: func(t *trial) {
			everyMinor(t, func() doc { return asks("").request("mode", "select", "options", twins()) })
		}},
		{Name: "dp-029.3", Section: "10", Title: "allow_edit counts from 0.6 on only", test: gatedEdit},
		{Name: "dp-029.4", Section: "8.1", Title: "and stays in the envelope all the same", test: staysInEnvelope},
	}
}

func everyMinor(t *trial, d func() doc) {
	a := t.agent("a")
	for _, version := range []string{"0.3", "0.4", "0.5", "0.6"} {
		a.unacceptable(d().with("ma2h_version", version), "no version makes it answerable (spec §5.2, §10)")
	}
}

func gatedEdit(t *trial) {
	a, person := t.agent("a"), t.person()
	for _, version := range []string{"0.3", "0.4", "0.5"} {
		id := a.accepted(choice(person.actor).editable().with("ma2h_version", version))
		person.resolve(id, answered(offMenu)).
			refused(http.StatusUnprocessableEntity, "below 0.6 allow_edit means nothing (spec §10)", ma2h.CodeInvalidField)
		person.answers(id, "hold")
	}
	person.answers(a.accepted(choice(person.actor).editable().with("ma2h_version", "0.6")), offMenu)
}

func staysInEnvelope(t *trial) {
	a, person := t.agent("a"), t.person()
	key := "key_" + ma2h.NewTail()
	send := func() string {
		return a.accepted(choice(person.actor).editable().with("ma2h_version", "0.5", "idempotency_key", key, "created_at", "2026-01-01T00:00:00Z"))
	}
	id := send()
	t.hold(a.pull(id).at("/request/permissions/allow_edit") == true, "the envelope as it was sent (spec §8.1)")
	t.hold(send() == id, "the same message for the same payload (spec §8.1)")
	person.resolve(id, answered(offMenu)).
		refused(http.StatusUnprocessableEntity, "below 0.6 allow_edit means nothing (spec §10)", ma2h.CodeInvalidField)
}

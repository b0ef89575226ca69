package awshub_test

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

func (d *drive) submit() {
	f := d.function(endpoint.Submit)
	send := func(body any, want int) { d.must(f, "POST", "/v1/messages", d.bot, body, want) }
	d.strangers(f, endpoint.Submit, ask("k", confirm, time.Time{}))
	first := ask("k", confirm, time.Time{})
	send(first, http.StatusAccepted)
	send(first, http.StatusAccepted)
	send(ask("k", doc{"mode": "confirm"}, time.Time{}), http.StatusConflict)
	send(ask("p", d.pushed(), time.Time{}), http.StatusAccepted)
	send(doc{"type": "ask"}, http.StatusBadRequest)
	for key, submit := range map[string]func(string) string{"late": d.late, "old": d.old} {
		submit(key)
		d.send(f, "POST", "/v1/messages", d.bot, ask(key, confirm, time.Time{}))
	}
	_, envelope := d.stranded("stranded") // whose replay ends it
	_, other := d.agents()
	send(envelope, http.StatusAccepted)
	send(addressed("to", "agent:other", ""), http.StatusAccepted)
	send(addressed("to a session", "agent:other#"+d.session(other, 0), ""), http.StatusAccepted)
	send(addressed("to nobody", "agent:nobody", ""), http.StatusUnprocessableEntity)
	d.limited(f)
}

// limited writes to the other until the hub has enough of it.
func (d *drive) limited(f lambda.Handler) {
	d.t.Helper()
	for i := range 2 * hub.DefaultSettings().PairPerMinute {
		r := d.send(f, "POST", "/v1/messages", d.bot, addressed(fmt.Sprint("too many ", i), "agent:other", ""))
		if r.status == http.StatusTooManyRequests {
			return
		}
	}
	d.t.Error("no message was one too many")
}

// states drives a function with messages in every state.
func (d *drive) states(f lambda.Handler, method, tail, token string, body any) {
	d.t.Helper()
	for _, id := range []string{
		"msg_" + strings.Repeat("a", ma2h.TailLength), "nonsense", d.old("old"), d.late("late"), d.current("open"),
		d.answered("answered", confirm),
	} {
		for range 2 {
			if r := d.send(f, method, messagePath(id, tail), token, body); r.status >= http.StatusInternalServerError {
				d.t.Errorf("%s %s = %d %s", method, messagePath(id, tail), r.status, r.body)
			}
		}
	}
	id, _ := d.stranded("stranded")
	if r := d.send(f, method, messagePath(id, tail), token, body); r.status >= http.StatusInternalServerError {
		d.t.Errorf("%s %s = %d %s", method, messagePath(id, tail), r.status, r.body)
	}
}

func (d *drive) pull() {
	f := d.function(endpoint.Pull)
	d.strangers(f, endpoint.Pull, nil)
	d.states(f, "GET", "?wait=0.3", d.bot, nil)
}

func (d *drive) cancel() {
	f := d.function(endpoint.Cancel)
	d.strangers(f, endpoint.Cancel, nil)
	d.states(f, "POST", "/cancel", d.bot, nil)
}

func (d *drive) resolve() {
	f := d.function(endpoint.Resolve)
	d.strangers(f, endpoint.Resolve, approve)
	d.states(f, "POST", "/resolve", d.alice, approve)
	id := d.submitted("agents", time.Minute, time.Hour, d.pushed())
	bot, _ := d.agents()
	d.must(f, "POST", messagePath(id, "/resolve?session="+d.session(bot, 0)), d.bot, approve, http.StatusOK)
	d.must(f, "POST", messagePath(id, "/resolve"), d.bot, approve, http.StatusConflict)
}

func (d *drive) ack() {
	f := d.function(endpoint.Ack)
	body := doc{"resolution_id": "res_" + strings.Repeat("a", 2*ma2h.TailLength)}
	d.strangers(f, endpoint.Ack, body)
	d.states(f, "POST", "/ack", d.bot, body)
	id := d.answered("acked", confirm)
	got := d.quiet.must(d.quiet.function(endpoint.Pull), "GET", messagePath(id, ""), d.bot, nil, http.StatusOK)
	response, _ := got["response"].(map[string]any)
	for range 2 {
		d.must(f, "POST", messagePath(id, "/ack"), d.bot, doc{"resolution_id": response["resolution_id"]}, http.StatusOK)
	}
}

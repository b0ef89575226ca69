package awshub_test

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// bound gives the agent a host.
func (d *drive) bound() {
	d.t.Helper()
	if _, err := d.hub.BindHost(d.t.Context(), d.owner, "bot", "callback.example", hub.ProofPerson); err != nil {
		d.t.Fatal(err)
	}
}

// replaced gives the agent a next secret.
func (d *drive) replaced() {
	d.t.Helper()
	if _, err := d.hub.SetSecret(d.t.Context(), d.owner, "bot", hub.SecretRequest{Ref: hub.PushSecretRef}); err != nil {
		d.t.Fatal(err)
	}
}

func (d *drive) agentRead() {
	f := d.function(endpoint.AgentRead)
	d.strangers(f, endpoint.AgentRead, nil)
	d.must(f, "GET", "/v1/agent?id=bot", d.alice, nil, http.StatusOK)
	d.must(f, "GET", "/v1/agent?id=nobody", d.alice, nil, http.StatusNotFound)
}

func (d *drive) hostBind() {
	f := d.function(endpoint.HostBind)
	body := doc{"agent": "bot", "host": "callback.example", "proof": "person"}
	d.strangers(f, endpoint.HostBind, body)
	d.must(f, "POST", "/v1/hosts", d.alice, body, http.StatusCreated)
	d.must(f, "POST", "/v1/hosts", d.alice, doc{"agent": "bot", "host": "10.0.0.1", "proof": "well-known"}, http.StatusUnprocessableEntity)
	body["agent"] = "nobody"
	d.must(f, "POST", "/v1/hosts", d.alice, body, http.StatusNotFound)
}

func (d *drive) hostUnbind() {
	f := d.function(endpoint.HostUnbind)
	body := doc{"agent": "bot", "host": "callback.example"}
	d.strangers(f, endpoint.HostUnbind, body)
	d.bound()
	for range 2 {
		d.must(f, "POST", "/v1/hosts/remove", d.alice, body, http.StatusNoContent)
	}
}

func (d *drive) webhookPut() {
	f := d.function(endpoint.WebhookPut)
	body := doc{"agent": "bot", "url": "https://callback.example/told"}
	d.strangers(f, endpoint.WebhookPut, body)
	d.must(f, "POST", "/v1/webhooks", d.alice, body, http.StatusUnprocessableEntity)
	d.bound()
	d.must(f, "POST", "/v1/webhooks", d.alice, body, http.StatusNoContent)
	body["agent"] = "nobody"
	d.must(f, "POST", "/v1/webhooks", d.alice, body, http.StatusNotFound)
}

// told is a directive that is to be pushed.
func (d *drive) told() string {
	d.t.Helper()
	d.agents()
	if err := d.hub.SetWebhook(d.t.Context(), d.owner, "bot", d.receiver.URL+"/cb"); err != nil {
		d.t.Fatal(err)
	}
	return d.directed("agent:bot", 0)
}

func (d *drive) secretAdd() {
	f := d.function(endpoint.SecretAdd)
	body := doc{"agent": "bot", "ref": "env:A"}
	d.strangers(f, endpoint.SecretAdd, body)
	for range 2 {
		d.must(f, "POST", "/v1/secrets", d.alice, body, http.StatusCreated)
	}
	body["agent"] = "nobody"
	d.must(f, "POST", "/v1/secrets", d.alice, body, http.StatusNotFound)
}

func (d *drive) secretUse() {
	f := d.function(endpoint.SecretUse)
	body := doc{"agent": "bot", "ref": hub.PushSecretRef}
	d.strangers(f, endpoint.SecretUse, body)
	d.replaced()
	for range 2 {
		d.must(f, "POST", "/v1/secrets/use", d.alice, body, http.StatusNoContent)
	}
}

func (d *drive) secretRemove() {
	f := d.function(endpoint.SecretRemove)
	body := doc{"agent": "bot", "ref": hub.PushSecretRef}
	d.strangers(f, endpoint.SecretRemove, body)
	d.must(f, "POST", "/v1/secrets/remove", d.alice, body, http.StatusNoContent)
	d.must(f, "POST", "/v1/secrets/remove", d.alice, body, http.StatusNotFound)
}

// sendAgain begins another round of what is owed, and is refused where there is nothing to send.
func (d *drive) sendAgain() {
	f := d.function(endpoint.SendAgain)
	d.strangers(f, endpoint.SendAgain, nil)
	for id, want := range map[string]int{
		"msg_" + strings.Repeat("a", ma2h.TailLength): http.StatusNotFound, d.old("old"): http.StatusGone,
		d.late("late"): http.StatusAccepted, d.current("open"): http.StatusUnprocessableEntity, d.failed("failed"): http.StatusAccepted,
	} {
		d.must(f, "POST", "/v1/waiting/"+id+"/send-again", d.alice, nil, want)
	}
	stranded, _ := d.stranded("stranded")
	d.must(f, "POST", "/v1/waiting/"+stranded+"/send-again", d.alice, nil, http.StatusUnprocessableEntity)
}

// failed returns an ask whose answer was refused where it was pushed to.
func (d *drive) failed(key string) string {
	d.t.Helper()
	id := d.submitted(key, time.Minute, time.Hour, d.pushed())
	if _, err := d.hub.Resolve(d.t.Context(), d.owner, id, "", &ma2h.Resolve{Resolution: ma2h.StatusDeclined}); err != nil {
		d.t.Fatal(err)
	}
	h := *d.hub
	h.Pusher = refusing{h.Pusher}
	at, _ := hub.StateKey(id)
	if _, err := h.Deliver(d.t.Context(), at, ""); err != nil {
		d.t.Fatal(err)
	}
	return id
}

// refusing is a Pusher whose receivers take nothing.
type refusing struct{ hub.Pusher }

// Push answers for the receiver.
func (refusing) Push(context.Context, hub.Push) hub.PushResult {
	return hub.PushResult{Status: http.StatusNotFound}
}

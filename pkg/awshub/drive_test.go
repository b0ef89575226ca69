package awshub_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/mash-hub/mash/pkg/auth"
	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// drives says how each function is driven.
func drives() map[endpoint.Name]func(*drive) {
	return map[endpoint.Name]func(*drive){
		endpoint.Discovery: open(endpoint.Discovery), endpoint.DiscoveryAlias: open(endpoint.DiscoveryAlias),
		endpoint.JWKS: open(endpoint.JWKS), endpoint.Healthz: open(endpoint.Healthz),
		endpoint.Readyz: open(endpoint.Readyz),
		endpoint.Submit: (*drive).submit, endpoint.Pull: (*drive).pull, endpoint.Cancel: (*drive).cancel,
		endpoint.Resolve: (*drive).resolve, endpoint.Ack: (*drive).ack,
		endpoint.Me: (*drive).me, endpoint.Waiting: (*drive).waiting, endpoint.Read: (*drive).read,
		endpoint.AgentList: (*drive).agentList, endpoint.AgentAdd: (*drive).agentAdd,
		endpoint.PersonList: (*drive).personList, endpoint.PersonInvite: (*drive).personInvite, endpoint.PersonRemove: (*drive).personRemove,
		endpoint.AgentRotate: (*drive).agentRotate, endpoint.AgentRevoke: (*drive).agentRevoke,
		endpoint.SettingsRead: (*drive).settingsRead, endpoint.SettingsPut: (*drive).settingsPut, endpoint.Link: (*drive).link,
		endpoint.AgentRead: (*drive).agentRead, endpoint.HostBind: (*drive).hostBind, endpoint.HostUnbind: (*drive).hostUnbind,
		endpoint.WebhookPut: (*drive).webhookPut,
		endpoint.SecretAdd:  (*drive).secretAdd, endpoint.SecretUse: (*drive).secretUse, endpoint.SecretRemove: (*drive).secretRemove,
		endpoint.SendAgain: (*drive).sendAgain,
		endpoint.Drain:     (*drive).drain, endpoint.Stream: (*drive).stream, endpoint.InboxAck: (*drive).inboxAck, endpoint.DirectiveSend: (*drive).directiveSend,
		endpoint.DirectiveRead: (*drive).directiveRead, endpoint.AllowlistPut: (*drive).allowlistPut,
		endpoint.SessionAdd: (*drive).sessionAdd, endpoint.SessionList: (*drive).sessionList, endpoint.SessionRead: (*drive).sessionRead,
		endpoint.SessionClose: (*drive).sessionClose, endpoint.Presence: (*drive).presence,
		endpoint.AgentStop: (*drive).agentStop, endpoint.StopLift: (*drive).stopLift,
		endpoint.Inbox: (*drive).inbox, endpoint.Sweep: (*drive).sweep, endpoint.Outbox: (*drive).outbox,
		endpoint.Fire: (*drive).fire, endpoint.Deliver: (*drive).deliver,
	}
}

func open(name endpoint.Name) func(*drive) {
	return func(d *drive) { d.must(d.function(name), "GET", endpoint.Of(name).Path, "", nil, http.StatusOK) }
}

// submitted makes an ask that was submitted a while ago, and expires so long after that.
func (d *drive) submitted(key string, ago, lasts time.Duration, request doc) string {
	d.t.Helper()
	then := time.Now().Add(-ago)
	e := ask(key, request, then.Add(lasts))
	e["created_at"] = then.UTC().Format(time.RFC3339)
	body, err := json.Marshal(e)
	if err != nil {
		d.t.Fatal(err)
	}
	envelope, invalid := ma2h.ReadMessage(body)
	if invalid != nil {
		d.t.Fatal(invalid)
	}
	credential, invalid := auth.Parse(d.bot)
	if invalid != nil {
		d.t.Fatal(invalid)
	}
	caller, err := auth.For(d.hub).Caller(d.t.Context(), credential)
	if err != nil {
		d.t.Fatal(err)
	}
	s, err := d.hub.At(then, d.hub.Clockwork).Submit(d.t.Context(), caller, envelope)
	if err != nil {
		d.t.Fatal(err)
	}
	return s.Ack.ID
}

// current is an open ask. late is one that nobody has yet ended at its deadline, and old one whose deadline is so long ago
// that whoever looks at it ends it, then closes its track, and then deletes it.
func (d *drive) current(key string) string {
	return d.submitted(key, time.Minute, 24*time.Hour, confirm)
}
func (d *drive) late(key string) string {
	return d.submitted(key, time.Hour, time.Minute, d.pushed())
}
func (d *drive) old(key string) string {
	return d.submitted(key, 100*24*time.Hour, time.Hour, confirm)
}

// answered is an ask that alice has answered.
func (d *drive) answered(key string, request doc) string {
	d.t.Helper()
	id := d.submitted(key, time.Minute, 24*time.Hour, request)
	d.quiet.must(d.quiet.function(endpoint.Resolve), "POST", messagePath(id, "/resolve"), d.alice, approve, http.StatusOK)
	return id
}

var approve = doc{"resolution": "answered", "value": "approve"}

// pushed is the request of an ask whose answer is pushed.
func (d *drive) pushed() doc {
	return doc{"mode": "confirm", "allowed_resolvers": []string{"human:alice", "agent:bot"}, "callback": doc{
		"mode": "push", "url": d.receiver.URL + "/cb", "auth": doc{"scheme": "hmac", "secret_ref": hub.PushSecretRef},
	}}
}

// strangers sends a request as nobody, and as an agent and a person whom nobody knows, and as who is of the wrong kind.
func (d *drive) strangers(f lambda.Handler, name endpoint.Name, body any) {
	d.t.Helper()
	e := endpoint.Of(name)
	token := func(prefix string) string {
		return hub.NewToken(prefix, strings.Repeat("a", hub.AccountRefLength), strings.Repeat("a", ma2h.TailLength))
	}
	for _, t := range []string{"", "nonsense", token(hub.AgentTokenPrefix), token(hub.PersonTokenPrefix)} {
		if r := d.send(f, e.Method, fill(e), t, body); r.status != http.StatusUnauthorized {
			d.t.Errorf("%s with the token %q = %d %s", name, t, r.status, r.body)
		}
	}
	wrong := map[endpoint.Caller]string{endpoint.Agent: d.alice, endpoint.Person: d.bot}[e.Caller]
	if wrong == "" {
		return
	}
	if r := d.send(f, e.Method, fill(e), wrong, body); r.status != http.StatusForbidden && r.status != http.StatusNotFound {
		d.t.Errorf("%s with a token of the wrong kind = %d %s", name, r.status, r.body)
	}
}

// owed is an ask whose answer is to be pushed.
func (d *drive) owed() string { return d.answered("owed", d.pushed()) }

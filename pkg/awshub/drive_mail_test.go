package awshub_test

import (
	"encoding/json"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/mash-hub/mash/pkg/auth"
	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// callerOf is whoever has a token, unheard.
func (d *drive) callerOf(token string) *hub.Caller {
	d.t.Helper()
	credential, invalid := auth.Parse(token)
	if invalid != nil {
		d.t.Fatal(invalid)
	}
	c, err := auth.For(d.hub).Caller(d.t.Context(), credential)
	if err != nil {
		d.t.Fatal(err)
	}
	return c
}

// ago is the hub as it was so long ago, unheard.
func (d *drive) ago(ago time.Duration) *hub.Hub {
	return d.hub.At(time.Now().Add(-ago), d.hub.Clockwork)
}

// agents are two agents that may write to each other, unheard: bot and another.
func (d *drive) agents() (bot, other *hub.Caller) {
	d.t.Helper()
	if d.other == "" {
		if err := d.hub.SetInterAgent(d.t.Context(), d.owner, true); err != nil {
			d.t.Fatal(err)
		}
		made, err := d.hub.AddAgent(d.t.Context(), d.owner, "other")
		if err != nil {
			d.t.Fatal(err)
		}
		d.other = made.Token
	}
	return d.callerOf(d.bot), d.callerOf(d.other)
}

// session is one that began so long ago, for a minute.
func (d *drive) session(c *hub.Caller, ago time.Duration) string {
	d.t.Helper()
	made, err := d.ago(ago).Register(d.t.Context(), c, &ma2h.Register{TTLSeconds: 60})
	if err != nil {
		d.t.Fatal(err)
	}
	return made.Session.ID
}

// writes sends a message of c that was submitted so long ago, and returns its id.
func (d *drive) writes(c *hub.Caller, ago time.Duration, envelope doc) string {
	d.t.Helper()
	body, err := json.Marshal(envelope)
	if err != nil {
		d.t.Fatal(err)
	}
	e, invalid := ma2h.ReadMessage(body)
	if invalid != nil {
		d.t.Fatal(invalid)
	}
	s, err := d.ago(ago).Submit(d.t.Context(), c, e)
	if err != nil {
		d.t.Fatal(err)
	}
	return s.Ack.ID
}

// addressed is the envelope of an ask of bot's to an address, under a session of its own or none.
func addressed(key, to, session string) doc {
	e := ask(key, doc{"mode": "confirm", "allowed_resolvers": []string{"human:alice", "agent:other"}}, time.Time{})
	e["to"] = to
	if session != "" {
		e["agent"] = doc{"id": "bot", "run_id": "r", "session": session}
	}
	return e
}

// stranded is an ask of bot's to a session of the other's that has ended since without anybody's noticing. Whoever looks at
// it ends the session, and the ask with it, and tells bot's session so.
func (d *drive) stranded(key string) (id string, envelope doc) {
	d.t.Helper()
	bot, other := d.agents()
	to := "agent:other#" + d.session(other, time.Hour)
	envelope = addressed(key, to, d.session(bot, 0))
	return d.writes(bot, time.Hour-time.Second, envelope), envelope
}

// directed is alice's directive of so long ago.
func (d *drive) directed(to string, ago time.Duration) string {
	d.t.Helper()
	sent, err := d.ago(ago).Direct(d.t.Context(), d.owner, &ma2h.Directive{To: to, Title: "Stop"})
	if err != nil {
		d.t.Fatal(err)
	}
	return sent.ID
}

// forgotten is a directive of so long ago that whoever looks at it deletes it. left is one to a session of the other's that
// has ended since without anybody's noticing.
func (d *drive) forgotten() string { d.agents(); return d.directed("agent:other", 100*24*time.Hour) }
func (d *drive) left() string {
	_, other := d.agents()
	return d.directed("agent:other#"+d.session(other, time.Hour), time.Hour-time.Second)
}

// drain empties a mailbox that has an entry of each kind, under a session, which the other's own drain leaves alone.
func (d *drive) drain() {
	f := d.function(endpoint.Drain)
	d.strangers(f, endpoint.Drain, nil)
	bot, session := d.mailbox()
	d.must(f, "GET", "/v1/inbox", d.bot, nil, http.StatusOK)
	got := d.must(f, "GET", "/v1/inbox?session="+session, d.bot, nil, http.StatusOK)
	if list, _ := got["messages"].([]any); len(list) != 3 { // the directive is claimed
		d.t.Errorf("the mailbox has %v, want a message, a response and a receipt", list)
	}
	d.rings("q-d-" + bot.Agent.Ref)
	d.must(f, "GET", "/v1/inbox?wait=2&session="+session, d.bot, nil, http.StatusOK)
	d.must(f, "GET", "/v1/inbox?session="+d.session(bot, time.Hour), d.bot, nil, http.StatusGone)
}

// stream holds a stream of a mailbox that has an entry of each kind.
func (d *drive) stream() {
	f := d.function(endpoint.Stream)
	d.strangers(f, endpoint.Stream, nil)
	bot, session := d.mailbox()
	d.rings("q-d-" + bot.Agent.Ref)
	r := d.send(f, "GET", "/v1/inbox/stream?session="+session, d.bot, nil)
	if n := strings.Count(r.body, "\ndata: "); r.status != http.StatusOK || n != 4 {
		d.t.Errorf("a stream = %d %s, want a directive, a message, a response and a receipt", r.status, r.body)
	}
	d.must(f, "GET", "/v1/inbox/stream?session="+d.session(bot, time.Hour), d.bot, nil, http.StatusGone)
}

// mailbox is bot with a session, in whose mailbox is an entry of each kind.
func (d *drive) mailbox() (bot *hub.Caller, session string) {
	d.t.Helper()
	bot, other := d.agents()
	session = d.session(bot, 0)
	d.directed("agent:bot", 0)
	d.receipt(session)
	d.writes(other, 0, doc{
		"ma2h_version": "0.6", "type": "notify", "title": "x", "created_at": time.Now().UTC().Format(time.RFC3339),
		"agent": doc{"id": "other", "run_id": "r"}, "to": "agent:bot",
	})
	return bot, session
}

// rings makes a queue with several rings, of which one is kept.
func (d *drive) rings(queue string) {
	d.t.Helper()
	client := sqs.NewFromConfig(d.quiet.config.AWS)
	made, err := client.CreateQueue(d.t.Context(), &sqs.CreateQueueInput{QueueName: aws.String(path.Base(d.config.Queues + queue))})
	if err != nil {
		d.t.Fatal(err)
	}
	for range 4 {
		_, err := client.SendMessage(d.t.Context(), &sqs.SendMessageInput{QueueUrl: made.QueueUrl, MessageBody: aws.String("ring")})
		if err != nil {
			d.t.Fatal(err)
		}
	}
}

// receipt puts the Response of an ask of bot's and a receipt of its bounce into the mailbox of its session.
func (d *drive) receipt(session string) {
	d.t.Helper()
	bot, other := d.agents()
	to := "agent:other#" + d.session(other, time.Hour)
	id := d.writes(bot, time.Hour-time.Second, addressed("bounces", to, session))
	if _, err := d.hub.Read(d.t.Context(), d.owner, id); err != nil {
		d.t.Fatal(err)
	}
}

// inboxAck acknowledges entries of each kind, and what has ended without anybody's noticing.
func (d *drive) inboxAck() {
	f := d.function(endpoint.InboxAck)
	d.strangers(f, endpoint.InboxAck, doc{"ids": []string{"dir_" + strings.Repeat("a", ma2h.TailLength)}})
	bot, _ := d.agents()
	session := d.session(bot, 0)
	d.receipt(session)
	d.directed("agent:bot", 0)
	ids := []string{}
	inbox := d.quiet.must(d.quiet.function(endpoint.Drain), "GET", "/v1/inbox?session="+session, d.bot, nil, http.StatusOK)
	list, _ := inbox["messages"].([]any)
	for _, m := range list {
		for _, kind := range []struct{ member, key string }{{"directive", "id"}, {"response", "resolution_id"}, {"receipt", "id"}} {
			if entry, ok := m.(map[string]any)[kind.member].(map[string]any); ok {
				ids = append(ids, entry[kind.key].(string))
			}
		}
	}
	got := d.must(f, "POST", "/v1/inbox/ack?session="+session, d.bot, doc{"ids": ids}, http.StatusOK)
	if got["acked"] != float64(3) {
		d.t.Errorf("the ack of %v = %v, want all three", ids, got)
	}
	d.must(f, "POST", "/v1/inbox/ack?session="+d.session(bot, time.Hour), d.bot, doc{"ids": []string{}}, http.StatusGone)

	stranded, _ := d.stranded("stranded")
	old := d.writes(bot, 100*24*time.Hour, addressed("old", "agent:other", d.session(bot, 100*24*time.Hour)))
	over := []string{stranded, old, d.left(), d.forgotten()}
	if got := d.must(f, "POST", "/v1/inbox/ack", d.other, doc{"ids": over}, http.StatusOK); got["acked"] != float64(0) {
		d.t.Errorf("the ack of what is over = %v", got)
	}
}

// directiveSend sends to an agent, to a session that lives, to one that has ended, and to one that ends as it is sent.
func (d *drive) directiveSend() {
	f := d.function(endpoint.DirectiveSend)
	_, other := d.agents()
	send := func(to string, want int) {
		d.must(f, "POST", "/v1/directives", d.alice, doc{"to": to, "title": "Stop"}, want)
	}
	d.strangers(f, endpoint.DirectiveSend, doc{"to": "agent:other", "title": "Stop"})
	send("agent:other", http.StatusCreated)
	send("agent:nobody", http.StatusUnprocessableEntity)
	send("agent:other#"+d.session(other, 0), http.StatusCreated)
	send("agent:other", http.StatusCreated)
	send("agent:other#"+d.session(other, time.Hour), http.StatusGone)
	ends := d.session(other, 0)
	d.uses.before("d#", func() {
		d.uses.before("d#", func() { // somebody else is faster to bounce it
			key, _ := hub.SessionKey(ends)
			if err := d.hub.TakeOver(d.t.Context(), key); err != nil {
				d.t.Error(err)
			}
		})
		if _, err := d.hub.CloseSession(d.t.Context(), d.owner, ends); err != nil {
			d.t.Error(err)
		}
	})
	send("agent:other#"+ends, http.StatusCreated)
	for range 10 { // until they are counted
		send("agent:other", http.StatusCreated)
	}
}

func (d *drive) directiveRead() {
	f := d.function(endpoint.DirectiveRead)
	d.strangers(f, endpoint.DirectiveRead, nil)
	for id, want := range map[string]int{
		"nonsense": http.StatusNotFound, "dir_" + strings.Repeat("a", ma2h.TailLength): http.StatusNotFound,
		d.directed("agent:bot", 0): http.StatusOK, d.left(): http.StatusOK, d.forgotten(): http.StatusGone,
	} {
		d.must(f, "GET", "/v1/directives/"+id, d.alice, nil, want)
	}
}

func (d *drive) allowlistPut() {
	f := d.function(endpoint.AllowlistPut)
	body := doc{"agent": "bot", "senders": []string{"other"}}
	d.strangers(f, endpoint.AllowlistPut, body)
	for range 2 {
		d.must(f, "POST", "/v1/allowlists", d.alice, body, http.StatusNoContent)
	}
}

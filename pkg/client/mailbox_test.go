package client_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// pair is an account whose agents asker and helper may write to each other, and a session of each.
type pair struct {
	owner, asker, helper        *client.Client
	askerMail, helperMail       *client.Mailbox
	askerSession, helperSession *ma2h.Session
}

func startPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{owner: startHub(t)}
	if err := p.owner.AllowMail(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.asker, p.helper = p.agent(t, "asker"), p.agent(t, "team/helper")
	p.askerMail, p.askerSession = registered(t, p.asker)
	p.helperMail, p.helperSession = registered(t, p.helper)
	return p
}

func (p *pair) agent(t *testing.T, id string) *client.Client {
	t.Helper()
	made, err := p.owner.AddAgent(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return client.New(p.owner.URL, made.Token)
}

func registered(t *testing.T, c *client.Client) (*client.Mailbox, *ma2h.Session) {
	t.Helper()
	s, err := c.Register(t.Context(), client.Registration{Label: "a test", TTL: 10 * time.Minute})
	if err != nil || s.State != ma2h.SessionActive || s.Label != "a test" || s.TTLSeconds != 600 {
		t.Fatalf("Register = %+v, %v", s, err)
	}
	return &client.Mailbox{Client: c, Session: s.ID, Policy: client.AllowEveryAgent()}, s
}

// direct is a directive of the owner to the helper.
func (p *pair) direct(t *testing.T, to string) string {
	t.Helper()
	sent, err := p.owner.Direct(t.Context(), ma2h.Directive{To: to, Title: "Do not deploy", Tags: []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	return sent.ID
}

// ask is an ask of the asker's session.
func (p *pair) ask(t *testing.T, to string) string {
	t.Helper()
	ack, err := p.asker.Ask(t.Context(), ma2h.Message{
		Agent: ma2h.Agent{Session: p.askerSession.ID}, To: to, Title: "May I?", Request: &ma2h.Request{Mode: ma2h.ModeConfirm},
	})
	if err != nil || ack.Destination == nil {
		t.Fatalf("Ask = %+v, %v", ack, err)
	}
	return ack.ID
}

// drained is what a mailbox has, all of it verified.
func drained(t *testing.T, b *client.Mailbox) []client.Entry {
	t.Helper()
	got, err := b.Drain(t.Context(), client.DrainOptions{})
	if err != nil || len(got.Refused) > 0 {
		t.Fatalf("Drain = %+v, %v", got, err)
	}
	return got.Entries
}

// only is the one entry of a mailbox, of this kind.
func only[E client.Entry](t *testing.T, b *client.Mailbox) E {
	t.Helper()
	entries := drained(t, b)
	if len(entries) != 1 {
		t.Fatalf("Drain = %d entries, want 1", len(entries))
	}
	e, ok := entries[0].(E)
	if !ok {
		t.Fatalf("Drain = a %T, want a %T", entries[0], e)
	}
	return e
}

func acked(t *testing.T, b *client.Mailbox, note string, entries ...client.Entry) *client.Acked {
	t.Helper()
	done, err := b.Ack(t.Context(), note, entries...)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func TestADirectiveIsDrainedAndAcknowledged(t *testing.T) {
	t.Parallel()
	p := startPair(t)
	id := p.direct(t, "agent:team/helper")
	bare := &client.Mailbox{Client: p.helper}
	e := only[*client.DirectiveEntry](t, bare)
	if e.Key() != id || e.From != "human:ada" || e.Title != "Do not deploy" || !slices.Equal(e.Tags, []string{"a"}) {
		t.Errorf("Drain = %+v", e)
	}
	if d, err := p.owner.ReadDirective(t.Context(), id); err != nil || d.Mailbox.State != ma2h.TrackDelivered {
		t.Errorf("after the drain ReadDirective = %+v, %v", d, err)
	}
	for _, note := range []string{"On it.", "again"} {
		if done := acked(t, bare, note, e); done.Acked != 1 || len(done.Acks) != 1 || done.Acks[0].Note != "On it." {
			t.Errorf("Ack = %+v, want the first ack", done)
		}
	}
	d, err := p.owner.ReadDirective(t.Context(), id)
	if err != nil || d.Mailbox.State != ma2h.TrackAcknowledged || d.Mailbox.Ack == nil || d.Mailbox.Ack.Note != "On it." {
		t.Errorf("after the ack ReadDirective = %+v, %v", d, err)
	}
}

func TestAnAgentAnswersAnother(t *testing.T) {
	t.Parallel()
	p := startPair(t)
	ctx := t.Context()
	id := p.ask(t, "agent:team/helper")
	asked := only[*client.MessageEntry](t, p.helperMail)
	if asked.ID != id || asked.From != "agent:asker#"+p.askerSession.ID || asked.Type != ma2h.TypeAsk || asked.Title != "May I?" {
		t.Errorf("Drain = %+v", asked)
	}
	done, err := p.helperMail.Resolve(ctx, id, ma2h.Resolve{Resolution: ma2h.StatusAnswered, Value: jsontext.Value(`"deny"`)})
	if err != nil || done.Status != ma2h.StatusAnswered {
		t.Fatalf("Resolve = %+v, %v", done, err)
	}
	acked(t, p.helperMail, "", asked)
	answer := only[*client.ResponseEntry](t, p.askerMail)
	if value, ok := client.Choice(&answer.Response); !ok || value != "deny" || answer.InReplyTo != id {
		t.Errorf("Drain = %+v", answer)
	}
	if actor := answer.Response.Response.Actor; actor != "agent:team/helper#"+p.helperSession.ID {
		t.Errorf("the actor is %s, want the session that answered", actor)
	}
	if got := acked(t, p.askerMail, "", answer); got.Acked != 1 {
		t.Errorf("Ack = %+v", got)
	}
	if read, err := p.asker.Pull(ctx, id); err != nil || read.Delivery.State != ma2h.TrackAcknowledged {
		t.Errorf("Pull = %+v, %v", read, err)
	}
}

func TestASenderIsToldOfABounce(t *testing.T) {
	t.Parallel()
	p := startPair(t)
	id := p.ask(t, "agent:team/helper#"+p.helperSession.ID)
	closed, err := p.helper.CloseSession(t.Context(), p.helperSession.ID)
	if err != nil || closed.State != ma2h.SessionClosed || closed.ClosedByOperator {
		t.Fatalf("CloseSession = %+v, %v", closed, err)
	}
	kinds := map[client.EntryKind]client.Entry{}
	for _, e := range drained(t, p.askerMail) {
		kinds[e.Kind()] = e
	}
	receipt, ok := kinds[client.KindReceipt].(*client.ReceiptEntry)
	if !ok || receipt.InReplyTo != id || receipt.Event != "bounced" || receipt.Prior != ma2h.TrackQueued {
		t.Errorf("the receipt = %+v", receipt)
	}
	outcome, ok := kinds[client.KindResponse].(*client.ResponseEntry)
	if !ok || outcome.Resolution != ma2h.StatusCancelled || outcome.Response.Response.Actor != ma2h.ActorUndeliverable {
		t.Errorf("the response = %+v", outcome)
	}
	acked(t, p.askerMail, "", receipt, outcome)
	if left := drained(t, p.askerMail); len(left) != 0 {
		t.Errorf("after the ack there are %d entries", len(left))
	}
}

func TestAnEndedSessionSaysWhetherToGoOn(t *testing.T) {
	t.Parallel()
	p := startPair(t)
	ctx := t.Context()
	if s, err := p.helper.ReadSession(ctx, p.helperSession.ID); err != nil || s.State != ma2h.SessionActive {
		t.Fatalf("ReadSession = %+v, %v", s, err)
	}
	if _, err := p.asker.ReadSession(ctx, p.helperSession.ID); codeOf(err) != ma2h.CodeNotFound {
		t.Errorf("ReadSession of another's = %v", err)
	}
	if _, err := (&client.Mailbox{Client: p.asker, Session: p.helperSession.ID}).Drain(ctx, client.DrainOptions{}); codeOf(err) != ma2h.CodeNotFound {
		t.Errorf("Drain under another's session = %v", err)
	}
	if _, err := p.helper.CloseSession(ctx, p.helperSession.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := p.helperMail.Drain(ctx, client.DrainOptions{}); codeOf(err) != ma2h.CodeGone {
		t.Errorf("Drain after the end = %v", err)
	}
	again, _ := registered(t, p.helper)
	if err := p.owner.StopAgent(ctx, "team/helper", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := again.Drain(ctx, client.DrainOptions{}); codeOf(err) != ma2h.CodeSessionClosedByOperator {
		t.Errorf("Drain after the stop = %v", err)
	}
	if _, err := p.helper.Register(ctx, client.Registration{}); codeOf(err) != ma2h.CodeSessionClosedByOperator {
		t.Errorf("Register after the stop = %v", err)
	}
	list, err := p.helper.Sessions(ctx)
	if err != nil || len(list.Sessions) != 2 || list.Scope != "own" {
		t.Errorf("Sessions = %+v, %v", list, err)
	}
}

func codeOf(err error) ma2h.Code {
	if e := ma2h.AsError(err); e != nil {
		return e.Code
	}
	return ""
}

func TestAnOwnerDecidesWhoWritesToWhom(t *testing.T) {
	t.Parallel()
	p := startPair(t)
	ctx := t.Context()
	notify := func() error {
		_, err := p.asker.Notify(ctx, ma2h.Message{To: "agent:team/helper", Title: "Done."})
		return err
	}
	for _, c := range []struct {
		set  func() error
		want ma2h.Code
	}{
		{func() error { return p.owner.SetAllowlist(ctx, "team/helper", []string{"asker"}) }, ""},
		{func() error { return p.owner.SetAllowlist(ctx, "team/helper", []string{}) }, ma2h.CodeUnknownDestination},
		{func() error { return p.owner.SetAllowlist(ctx, "team/helper", nil) }, ""},
		{func() error { return p.owner.ForbidMail(ctx) }, ma2h.CodeNotAuthorized},
	} {
		if err := c.set(); err != nil {
			t.Fatal(err)
		}
		if err := notify(); codeOf(err) != c.want {
			t.Errorf("Notify = %v, want %q", err, c.want)
		}
	}
}

func TestADrainWaits(t *testing.T) {
	t.Parallel()
	p := startPair(t)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	got := make(chan *client.Drained, 1)
	go func() {
		d, err := p.helperMail.Drain(ctx, client.DrainOptions{Wait: 20 * time.Second})
		if err != nil {
			t.Error(err)
		}
		got <- d
	}()
	id := p.direct(t, "agent:team/helper")
	if d := <-got; d == nil || len(d.Entries) != 1 || d.Entries[0].Key() != id {
		t.Errorf("Drain = %+v, want the directive that came meanwhile", d)
	}
	first, second := p.direct(t, "agent:team/helper"), p.direct(t, "agent:team/helper")
	for _, want := range []string{first, second} {
		d, err := p.helperMail.Drain(ctx, client.DrainOptions{Max: 1})
		if err != nil || len(d.Entries) != 1 || d.Entries[0].Key() != want {
			t.Errorf("Drain = %+v, %v, want %s alone", d, err, want)
		}
	}
}

func TestAnEntryIsActedOnOnce(t *testing.T) {
	t.Parallel()
	p := startPair(t)
	id := p.ask(t, "agent:team/helper#"+p.helperSession.ID)
	p.direct(t, "agent:team/helper")
	p.direct(t, "agent:team/helper")
	var acted client.Acted
	count := 0
	once := func(e client.Entry, fails error) error {
		return acted.DoEntry(e, func() error { count++; return fails })
	}
	for _, e := range drained(t, p.helperMail) {
		failed := errors.New("the disk is full")
		for _, want := range []error{failed, nil, nil} {
			if err := once(e, want); !errors.Is(err, want) {
				t.Errorf("DoEntry = %v, want %v", err, want)
			}
		}
	}
	if count != 6 { // three entries, each failed once and done once
		t.Errorf("%d calls, want 6", count)
	}
	if _, err := p.helperMail.Resolve(t.Context(), id, ma2h.Resolve{Resolution: ma2h.StatusDeclined}); err != nil {
		t.Fatal(err)
	}
	answer := only[*client.ResponseEntry](t, p.askerMail)
	pulled, err := p.asker.Pull(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	count = 0
	_ = acted.Do(pulled.Response, func() error { count++; return nil })
	_ = once(answer, nil)
	if count != 1 {
		t.Errorf("a Response that came twice was acted on %d times", count)
	}
}

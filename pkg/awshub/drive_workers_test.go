package awshub_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
	"github.com/mash-hub/mash/pkg/sfnclock"
	"github.com/mash-hub/mash/pkg/sqsbell"
)

func (d *drive) sweep() {
	d.old("old")
	d.late("late")
	d.owed()
	_, other := d.agents()
	d.session(other, 100*24*time.Hour) // long over
	d.stranded("stranded")
	d.forgotten()
	d.left()
	sweep := d.sweeper()
	for end := time.Now().Add(patience); ; {
		if _, err := sweep(d.t.Context()); err != nil {
			d.t.Fatal(err)
		}
		if got, _ := d.receiver.attempts(); len(got) >= 2 { // of what was late, and of what was owed
			return
		}
		if time.Now().After(end) {
			d.t.Fatal("the sweep pushes nothing")
		}
	}
}

// outbox brings a record for each kind of timer, and one that has none.
func (d *drive) outbox() {
	batch, err := d.config.Outbox(d.t.Context(), sqsbell.Open)
	if err != nil {
		d.t.Fatal(err)
	}
	var records []string
	for _, id := range []string{
		d.submitted("soon", time.Minute, time.Hour, d.pushed()), d.owed(), d.told(), d.current("open"),
	} {
		records = append(records, d.image(id))
	}
	records = append(records, d.row())
	out, err := lambda.NewHandler(batch).Invoke(d.t.Context(), []byte(`{"Records":[`+strings.Join(records, ",")+`]}`))
	if err != nil || string(out) != `{"batchItemFailures":[]}` {
		d.t.Errorf("outbox = %s, %v", out, err)
	}
}

// image is the stream's record of a message's state as it stands.
func (d *drive) image(id string) string {
	d.t.Helper()
	key, _ := hub.LetterKey(id)
	recs, err := d.hub.Store.Get(d.t.Context(), key)
	if err != nil {
		d.t.Fatal(err)
	}
	return d.change("MODIFY", recs[0])
}

// row is the stream's record of an entry that has come into a mailbox.
func (d *drive) row() string {
	d.t.Helper()
	bot, _ := d.agents()
	d.directed("agent:bot", 0)
	recs, err := d.hub.Store.List(d.t.Context(), "q#d."+bot.Agent.Ref, "", 1)
	if err != nil || len(recs) != 1 {
		d.t.Fatalf("%d rows, %v", len(recs), err)
	}
	return d.change("INSERT", recs[0])
}

// change is a record of the stream.
func (d *drive) change(event string, r record.Record) string {
	d.t.Helper()
	text := func(s string) doc { return doc{"S": s} }
	b, err := json.Marshal(doc{"eventID": r.Key.String(), "eventName": event, "dynamodb": doc{
		"SequenceNumber": "1", "NewImage": doc{
			"pk": text(r.Part), "sk": text(r.Sort), "rev": text(r.Rev), "kind": text(r.Kind), "body": text(string(r.Body)),
			"due": text(fmt.Sprintf("%019d", r.Due.UnixMicro())),
		}}})
	if err != nil {
		d.t.Fatal(err)
	}
	return string(b)
}

func (d *drive) fire() {
	f, err := d.config.Firer(d.t.Context())
	d.execute(f, err)
	for _, session := range []string{d.waitedFor(), d.lapsed()} {
		key, _ := hub.SessionKey(session)
		in := sfnclock.Input{Key: sfnclock.Key(key), At: sfnclock.Timestamp(time.Now())}
		if _, err := f(d.t.Context(), in); err != nil {
			d.t.Errorf("execution for %s: %v", session, err)
		}
	}
}

func (d *drive) deliver() {
	f, err := d.config.Deliverer(d.t.Context())
	d.execute(f, err, d.told(), d.forgotten())
	if got, _ := d.receiver.attempts(); len(got) == 0 {
		d.t.Error("nothing was pushed")
	}
}

// execute calls what an execution calls, for messages in every state.
func (d *drive) execute(f awshub.Execution, err error, more ...string) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
	stranded, _ := d.stranded("stranded")
	for _, id := range append(more,
		"msg_"+strings.Repeat("a", ma2h.TailLength), d.old("old"), d.late("late"), d.current("open"), d.owed(), stranded,
	) {
		key, _ := hub.LetterKey(id)
		in := sfnclock.Input{Key: sfnclock.Key(key), At: sfnclock.Timestamp(time.Now())}
		if _, err := f(d.t.Context(), in); err != nil {
			d.t.Errorf("execution for %s: %v", id, err)
		}
	}
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// state is the record of a message, as far as it is looked at. It is read from the table, since every read through the hub
// would settle what is due.
type state struct {
	Status   string    `json:"status"`
	StatusAt time.Time `json:"status_at"`
	Response struct {
		ResolutionID string `json:"resolution_id"`
	} `json:"response"`
	Push struct {
		Done     bool `json:"done"`
		Attempts []struct {
			At     time.Time `json:"at"`
			Status int       `json:"status"`
		} `json:"attempts"`
	} `json:"push"`

	rev string
}

func (t *trial) state(ctx context.Context, m *message) (*state, error) {
	var got struct {
		Item struct{ Rev, Body struct{ S string } }
	}
	err := t.call(ctx, dynamodb(), "GetItem", doc{
		"TableName": t.Outputs.Table, "ConsistentRead": true,
		"Key": doc{"pk": doc{"S": "m#" + m.tail}, "sk": doc{"S": "state"}},
	}, &got)
	if err != nil {
		return nil, err
	}
	s := state{rev: got.Item.Rev.S}
	if err := json.Unmarshal([]byte(got.Item.Body.S), &s); err != nil {
		return nil, fmt.Errorf("the record of %s: %w", m.id, err)
	}
	return &s, nil
}

// done says whether the callbacks of all these messages are done.
func (t *trial) done(ctx context.Context, messages ...*message) (bool, error) {
	for _, m := range messages {
		s, err := t.state(ctx, m)
		if err != nil || !s.Push.Done {
			return false, err
		}
	}
	return true, nil
}

// pushed waits until the callbacks of these messages are done, whoever makes them, and checks each.
func (t *trial) pushed(ctx context.Context, messages ...*message) error {
	err := until(ctx, "every callback is done", func(ctx context.Context) (bool, error) { return t.done(ctx, messages...) })
	if err != nil {
		return err
	}
	return t.check(ctx, messages...)
}

// sweepEach is how often the sweep runs in place of each minute.
const sweepEach = 500 * time.Millisecond

// swept runs the sweep until the callbacks of these messages are done, and checks each.
func (t *trial) swept(ctx context.Context, messages ...*message) (runs int, _ error) {
	var last time.Time
	err := until(ctx, "the sweep has done every callback", func(ctx context.Context) (bool, error) {
		if ok, err := t.done(ctx, messages...); ok || err != nil || time.Since(last) < sweepEach {
			return ok, err
		}
		runs, last = runs+1, time.Now()
		return false, t.sweep(ctx)
	})
	if err != nil {
		return runs, err
	}
	return runs, t.check(ctx, messages...)
}

// sweep runs it once.
func (t *trial) sweep(ctx context.Context) error {
	var did struct {
		Failed int
		Left   bool
	}
	err := t.invoke(ctx, sweep, []byte("{}"), &did)
	if err == nil && (did.Failed > 0 || did.Left) {
		err = fmt.Errorf("the sweep failed at %d records and left some: %t", did.Failed, did.Left)
	}
	return err
}

// check holds messages whose callbacks are done to what must have become of each: one outcome, at its time, pushed once.
// Where it has been here before, nothing may have been written since.
func (t *trial) check(ctx context.Context, messages ...*message) error {
	for _, m := range messages {
		s, err := t.state(ctx, m)
		if err != nil {
			return err
		}
		switch n := len(s.Push.Attempts); {
		case !s.Push.Done || n != m.refuse+1 || s.Push.Attempts[n-1].Status/100 != 2:
			return fmt.Errorf("the record of %s has the attempts %+v, done: %t; want %d, the last taken",
				m.id, s.Push.Attempts, s.Push.Done, m.refuse+1)
		case m.rev != "" && m.rev != s.rev:
			return fmt.Errorf("the record of %s was written once more after its callback", m.id)
		case m.resolution != "" && (s.Status != "answered" || s.Response.ResolutionID != m.resolution):
			return fmt.Errorf("%s is %s as %s, want answered as %s", m.id, s.Status, s.Response.ResolutionID, m.resolution)
		case m.resolution == "" && (s.Status != "expired" || !s.StatusAt.Equal(m.deadline)):
			return fmt.Errorf("%s is %s at %s, want expired at %s", m.id, s.Status, s.StatusAt, m.deadline)
		}
		if err := t.receiver.check(m, s.Response.ResolutionID); err != nil {
			return err
		}
		m.rev = s.rev
	}
	return nil
}

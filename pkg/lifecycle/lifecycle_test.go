package lifecycle_test

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/lifecycle"
	"github.com/mash-hub/mash/pkg/ma2h"
)

var (
	noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	said = ma2h.FormatTime(noon)
)

func TestTerminal(t *testing.T) {
	t.Parallel()
	for status, want := range map[ma2h.Status]bool{
		ma2h.StatusAnswered: true, ma2h.StatusDeclined: true, ma2h.StatusCancelled: true, ma2h.StatusExpired: true,
		ma2h.StatusCompleted: true, ma2h.StatusDismissed: true,
		ma2h.StatusOpen: false, ma2h.StatusDelivered: false, ma2h.StatusQueued: false, ma2h.StatusAcknowledged: false,
		ma2h.StatusBounced: false, "": false, "Answered": false,
	} {
		if got := lifecycle.Terminal(status); got != want {
			t.Errorf("Terminal(%q) = %t, want %t", status, got, want)
		}
	}
}

func TestInitial(t *testing.T) {
	t.Parallel()
	for kind, want := range map[ma2h.Type]ma2h.Status{
		ma2h.TypeNotify: ma2h.StatusDelivered, ma2h.TypeAsk: ma2h.StatusOpen, ma2h.TypeTask: ma2h.StatusOpen,
	} {
		if got := lifecycle.Initial(kind); got != want {
			t.Errorf("Initial(%q) = %q, want %q", kind, got, want)
		}
	}
}

func TestOverdue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		deadline, now time.Time
		want          bool
	}{
		{noon, noon.Add(-time.Nanosecond), false},
		{noon, noon, false}, // who answers at the deadline still wins
		{noon, noon.In(time.FixedZone("", 3600)), false},
		{noon, noon.Add(time.Nanosecond), true},
		{time.Time{}, noon, false},
		{time.Time{}, time.Time{}, false},
	} {
		if got := lifecycle.Overdue(c.deadline, c.now); got != c.want {
			t.Errorf("Overdue(%v, %v) = %t, want %t", c.deadline, c.now, got, c.want)
		}
	}
}

func TestExpire(t *testing.T) {
	t.Parallel()
	ask := func(byDefault string) *ma2h.Message {
		return &ma2h.Message{Type: ma2h.TypeAsk, Request: &ma2h.Request{DefaultOnExpire: jsontext.Value(byDefault)}}
	}
	expired := func(value string) lifecycle.Resolution {
		return lifecycle.Resolution{
			Status: ma2h.StatusExpired, At: noon, Actor: ma2h.ActorDefaultOnExpire, Defaulted: value != "",
			Detail: &ma2h.Detail{Value: jsontext.Value(value), Actor: ma2h.ActorDefaultOnExpire, ResolvedAt: said},
		}
	}
	for name, c := range map[string]struct {
		m    *ma2h.Message
		want lifecycle.Resolution
	}{
		"an ask with a default":    {ask(`"hold"`), expired(`"hold"`)},
		"a form with a default":    {ask(`{"n":1}`), expired(`{"n":1}`)},
		"a default that is empty":  {ask(`""`), expired(`""`)},
		"an ask without a default": {ask(""), expired("")},
		"a default of null":        {ask("null"), expired("")},
		"a task":                   {&ma2h.Message{Type: ma2h.TypeTask}, lifecycle.Resolution{Status: ma2h.StatusExpired, At: noon}},
	} {
		if diff := cmp.Diff(c.want, lifecycle.Expire(c.m, noon), emptyIsNil); diff != "" {
			t.Errorf("Expire of %s (-want +got):\n%s", name, diff)
		}
	}
}

// emptyIsNil takes a value without bytes for none: both are left out on the wire.
var emptyIsNil = cmp.Comparer(func(a, b jsontext.Value) bool { return string(a) == string(b) })

func TestResolve(t *testing.T) {
	t.Parallel()
	answer := func(kind ma2h.Type, r ma2h.Resolve) ma2h.Answer { return ma2h.Answer{Resolve: r, Type: kind} }
	edited := answer(ma2h.TypeAsk, ma2h.Resolve{Resolution: ma2h.StatusAnswered, Value: jsontext.Value(`"later"`), Comment: "why"})
	edited.Edited = true
	steps := []ma2h.ChecklistItem{{Text: "pack", Done: true}}
	for name, c := range map[string]struct {
		a    ma2h.Answer
		want *ma2h.Detail // but for actor and time
	}{
		"an option":            {answer(ma2h.TypeAsk, ma2h.Resolve{Resolution: ma2h.StatusAnswered, Value: jsontext.Value(`"ship"`)}), &ma2h.Detail{Value: jsontext.Value(`"ship"`)}},
		"own words":            {edited, &ma2h.Detail{Value: jsontext.Value(`"later"`), Edited: true, Comment: "why"}},
		"a decline":            {answer(ma2h.TypeAsk, ma2h.Resolve{Resolution: ma2h.StatusDeclined}), &ma2h.Detail{}},
		"a task":               {answer(ma2h.TypeTask, ma2h.Resolve{Resolution: ma2h.StatusCompleted}), nil},
		"a task with comment":  {answer(ma2h.TypeTask, ma2h.Resolve{Resolution: ma2h.StatusDismissed, Comment: "no"}), &ma2h.Detail{Comment: "no"}},
		"a task's steps":       {answer(ma2h.TypeTask, ma2h.Resolve{Resolution: ma2h.StatusCompleted, Checklist: steps}), &ma2h.Detail{Checklist: steps}},
		"a task without steps": {answer(ma2h.TypeTask, ma2h.Resolve{Resolution: ma2h.StatusCompleted, Checklist: []ma2h.ChecklistItem{}}), &ma2h.Detail{Checklist: []ma2h.ChecklistItem{}}},
	} {
		want := lifecycle.Resolution{Status: c.a.Resolution, At: noon, Actor: "human:ada", Detail: c.want}
		if c.want != nil {
			c.want.Actor, c.want.ResolvedAt = "human:ada", said
		}
		if diff := cmp.Diff(want, lifecycle.Resolve(c.a, "human:ada", noon)); diff != "" {
			t.Errorf("Resolve by %s (-want +got):\n%s", name, diff)
		}
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	want := lifecycle.Resolution{
		Status: ma2h.StatusCancelled, At: noon, Actor: "agent:ci", Detail: &ma2h.Detail{Actor: "agent:ci", ResolvedAt: said},
	}
	if diff := cmp.Diff(want, lifecycle.Cancel("agent:ci", noon)); diff != "" {
		t.Errorf("Cancel (-want +got):\n%s", diff)
	}
}

// TestEveryOutcomeIsTerminal holds that nothing follows what these functions write.
func TestEveryOutcomeIsTerminal(t *testing.T) {
	t.Parallel()
	for _, r := range []lifecycle.Resolution{
		lifecycle.Cancel("agent:ci", noon), lifecycle.Expire(&ma2h.Message{Type: ma2h.TypeTask}, noon),
	} {
		if !lifecycle.Terminal(r.Status) {
			t.Errorf("%q is not terminal", r.Status)
		}
	}
}

// TestTheResponseTrack goes through every step from every state.
func TestTheResponseTrack(t *testing.T) {
	t.Parallel()
	const none, delivered, acked, expired = ma2h.Track(""), ma2h.TrackDeliveredToAgent, ma2h.TrackAcknowledged, ma2h.TrackExpired
	for _, c := range []struct{ from, delivered, acknowledged, retired ma2h.Track }{
		{from: none, delivered: delivered, acknowledged: "unlawful", retired: expired},
		{from: delivered, delivered: delivered, acknowledged: acked, retired: delivered},
		{from: acked, delivered: acked, acknowledged: acked, retired: acked},
		{from: expired, delivered: expired, acknowledged: "unlawful", retired: expired},
	} {
		if to, changed := lifecycle.Deliver(c.from); to != c.delivered || changed != (to != c.from) {
			t.Errorf("Deliver(%q) = %q, %t, want %q", c.from, to, changed, c.delivered)
		}
		if to, changed := lifecycle.Retire(c.from); to != c.retired || changed != (to != c.from) {
			t.Errorf("Retire(%q) = %q, %t, want %q", c.from, to, changed, c.retired)
		}
		want, lawful := c.acknowledged, true
		if want == "unlawful" {
			want, lawful = c.from, false
		}
		if to, changed, ok := lifecycle.Acknowledge(c.from); to != want || changed != (to != c.from) || ok != lawful {
			t.Errorf("Acknowledge(%q) = %q, %t, %t, want %q, lawful: %t", c.from, to, changed, ok, want, lawful)
		}
	}
}

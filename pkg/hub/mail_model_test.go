package hub_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/keyring"
	"github.com/mash-hub/mash/pkg/localhub"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
	"github.com/mash-hub/mash/pkg/sqlitestore"
)

// The bounds of a hub that is driven by the model: short, so that much happens in a sequence.
const (
	modelWindow    = time.Minute
	modelLease     = 5 * time.Minute
	modelRetention = 24 * time.Hour
)

// TestMailIsAsTheModelSays drives sessions, sends, drains, acks, answers, ends and crashes at random in virtual time, and
// holds what the hub says of every entry to a model of spec §14.2 and §16 that knows no store.
func TestMailIsAsTheModelSays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		m := newMailModel(t, rt)
		rt.Repeat(map[string]func(*rapid.T){
			"register": m.register, "send": m.send, "direct": m.direct, "drain": m.drain, "drain as the sender": m.drainAsSender,
			"ack": m.ack, "answer": m.answer, "close": m.close, "pass": m.pass, "settle": func(*rapid.T) { m.settle() },
			"": m.look,
		})
		m.end(rt)
	})
}

// mailModel is a hub, and what should be true of it: alpha and ada write to beta.
type mailModel struct {
	ctx              context.Context //nolint:containedctx // of the test
	hub              *hub.Hub
	store            *stumbling
	now              time.Time
	ada, alpha, beta *hub.Caller
	sessions         []*modelSession
	entries          []*modelEntry
	told             map[string]time.Time // until when an entry of alpha's own mailbox is hidden, by its ack key
	bounced          map[string]string    // id of the receipt, by the message
}

// modelSession is a session of an agent.
type modelSession struct {
	id    string
	of    *hub.Caller
	until time.Time // end of its lease
	ended time.Time // by a close
}

// over says whether the session has ended by now, and when.
func (s *modelSession) over(now time.Time) (time.Time, bool) {
	if !s.ended.IsZero() {
		return s.ended, true
	}
	return s.until, now.After(s.until)
}

func (s *modelSession) renew(now time.Time) { s.until = later(s.until, now.Add(modelLease)) }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// stumbling is a store of a process that dies after a Commit, before it reads again.
type stumbling struct {
	record.Store
	armed, falls atomic.Bool
}

// stumblingOn is a process over the store that dies after its first Commit of three records or more.
func stumblingOn(store record.Store) *stumbling {
	s := &stumbling{Store: store}
	s.armed.Store(true)
	return s
}

var errStumbled = errors.New("the process died")

func (s *stumbling) Commit(ctx context.Context, w ...record.Write) error {
	err := s.Store.Commit(ctx, w...)
	if err == nil && len(w) > 2 && s.armed.Load() {
		s.falls.Store(true)
	}
	return err
}

func (s *stumbling) Get(ctx context.Context, k ...record.Key) ([]record.Record, error) {
	if s.falls.CompareAndSwap(true, false) {
		s.armed.Store(false)
		return nil, errStumbled
	}
	return s.Store.Get(ctx, k...)
}

func newMailModel(t *testing.T, rt *rapid.T) *mailModel {
	t.Helper()
	store, err := sqlitestore.OpenMemory()
	if err != nil {
		rt.Fatal(err)
	}
	rt.Cleanup(func() { _ = store.Close() })
	m := &mailModel{
		ctx: t.Context(), store: &stumbling{Store: store}, now: time.Date(2026, time.March, 4, 14, 0, 0, 0, time.UTC),
		told: map[string]time.Time{}, bounced: map[string]string{},
	}
	settings := hub.DefaultSettings()
	settings.VisibilityTimeout, settings.DefaultTTL, settings.RetentionDays = modelWindow, modelLease, 1
	settings.AgentListVisibility, settings.PairPerMinute, settings.RequestsPerMinute = true, 0, 0
	m.hub = hub.New(m.store, keyring.Ephemeral(), &caught{}, &localhub.Bell{}, unwound{}, settings)
	m.hub.Now = func() time.Time { return m.now }
	m.ada, err = m.hub.EnsureAccount(m.ctx, "ada")
	m.must(rt, err)
	m.must(rt, m.hub.SetInterAgent(m.ctx, m.ada, true))
	m.alpha, m.beta = m.agent(rt, "alpha"), m.agent(rt, "beta")
	return m
}

func (m *mailModel) agent(rt *rapid.T, id string) *hub.Caller {
	_, err := m.hub.AddAgent(m.ctx, m.ada, id)
	m.must(rt, err)
	account := m.ada.Account
	account.InterAgent = true
	return &hub.Caller{Account: account, Agent: &hub.Agent{Ref: m.hub.AgentRef(account.Ref, id), ID: id, Account: account.Ref}}
}

func (m *mailModel) must(rt *rapid.T, err error) {
	rt.Helper()
	if err != nil {
		rt.Fatal(err)
	}
}

// refused fails unless err has the code.
func refused(rt *rapid.T, what string, err error, want ma2h.Code) {
	rt.Helper()
	if e := ma2h.AsError(err); e == nil || e.Code != want {
		rt.Fatalf("%s: %v, want %s", what, err, want)
	}
}

// pick draws a session of an agent, nil for none, and skips the action where one must be there and is not.
func (m *mailModel) pick(rt *rapid.T, of *hub.Caller, optional bool) *modelSession {
	var all []*modelSession
	for _, s := range m.sessions {
		if s.of == of {
			all = append(all, s)
		}
	}
	if optional {
		all = append(all, nil)
	}
	if len(all) == 0 {
		rt.Skip("no session")
	}
	return rapid.SampledFrom(all).Draw(rt, "session")
}

func (m *mailModel) register(rt *rapid.T) {
	of := rapid.SampledFrom([]*hub.Caller{m.alpha, m.beta}).Draw(rt, "of")
	live := 0
	for _, s := range m.sessions {
		if _, over := s.over(m.now); !over && s.of == of {
			live++
		}
	}
	if live == 4 {
		rt.Skip("enough of them")
	}
	made, err := m.hub.Register(m.ctx, of, &ma2h.Register{})
	m.must(rt, err)
	m.sessions = append(m.sessions, &modelSession{id: made.Session.ID, of: of, until: m.now.Add(modelLease)})
}

func (m *mailModel) close(rt *rapid.T) {
	of := rapid.SampledFrom([]*hub.Caller{m.alpha, m.beta}).Draw(rt, "of")
	s, by := m.pick(rt, of, false), of
	if rapid.Bool().Draw(rt, "by a person") {
		by = m.ada
	}
	at, over := s.over(m.now)
	if over && m.now.After(at.Add(m.hub.Settings.TerminalRetention)) {
		return
	}
	_, err := m.hub.CloseSession(m.ctx, by, s.id)
	m.must(rt, err)
	if !over {
		s.ended = m.now
	}
	if by == m.ada {
		m.must(rt, m.hub.LiftStop(m.ctx, m.ada, of.Agent.ID))
	}
}

func (m *mailModel) pass(rt *rapid.T) {
	m.now = m.now.Add(rapid.SampledFrom([]time.Duration{
		time.Second, 20 * time.Second, 59 * time.Second, modelWindow, 2 * time.Minute, modelLease, time.Hour,
	}).Draw(rt, "time"))
}

// settle does all that is due, as a sweep does.
func (m *mailModel) settle() {
	for after := (record.Entry{}); ; {
		due, err := m.hub.Store.Due(m.ctx, m.now, after, 100)
		if err != nil || len(due) == 0 {
			return
		}
		for _, e := range due {
			_, err = m.hub.Fire(m.ctx, e.Key)
			if err != nil {
				panic(fmt.Sprintf("fire %s: %v", e.Key, err))
			}
			after = e
		}
	}
}

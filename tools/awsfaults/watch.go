package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// lookEach is how often a watched message is pulled: within what an agent may send in the long run.
const lookEach = 200 * time.Millisecond

// watch is an agent that pulls its messages all the time, and holds each answer to what is true at that moment.
type watch struct {
	trial *trial
	stop  context.CancelFunc
	over  sync.WaitGroup

	mu    sync.Mutex
	looks int
	wrong error
}

// pulled is a message as its agent reads it.
type pulled struct {
	Status   string
	Response *struct {
		ResolutionID string `json:"resolution_id"`
		Resolution   string
		Response     struct {
			ResolvedAt time.Time `json:"resolved_at"`
		}
	}
}

// watch begins to pull messages, each by its own agent.
func (t *trial) watch(ctx context.Context, messages ...*message) *watch {
	w := &watch{trial: t}
	during, stop := context.WithCancel(ctx)
	w.stop = stop
	for _, m := range messages {
		w.over.Go(func() {
			for more := true; more; more = during.Err() == nil {
				w.look(ctx, m)
				select {
				case <-time.After(lookNext(m)):
				case <-during.Done():
				}
			}
			w.look(ctx, m) // at how it ended
		})
	}
	return w
}

// lookNext is how long to wait before the next look, one of which is right after the deadline.
func lookNext(m *message) time.Duration {
	if left := time.Until(m.deadline.Add(time.Millisecond)); left > 0 && left < lookEach {
		return left
	}
	return lookEach
}

// end stops pulling, and says how many looks there were and what the first wrong one saw.
func (w *watch) end() (looks int, _ error) {
	w.stop()
	w.over.Wait()
	return w.looks, w.wrong
}

func (w *watch) look(ctx context.Context, m *message) {
	var p pulled
	before := time.Now()
	err := w.trial.request(ctx, m.by.Token, http.MethodGet, "/v1/messages/"+m.id, nil, http.StatusOK, &p)
	after := time.Now()
	if err == nil {
		w.trial.mu.Lock()
		err = m.judge(p, before, after)
		w.trial.mu.Unlock()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looks++
	if err != nil && w.wrong == nil && !errors.Is(err, context.Canceled) {
		w.wrong = fmt.Errorf("what is read is wrong: %w", err)
	}
}

// judge says what is wrong with an answer that was made between two times.
func (m *message) judge(p pulled, before, after time.Time) error {
	expires, answers := !m.deadline.IsZero(), !m.answering.IsZero()
	overdue := expires && !before.Before(m.deadline.Add(time.Millisecond))
	switch r := p.Response; {
	case p.Status == "open" && !overdue && (m.answered.IsZero() || before.Before(m.answered)):
		return nil
	case p.Status == "expired" && expires && after.After(m.deadline) && r != nil && r.Resolution == "expired" &&
		r.Response.ResolvedAt.Equal(m.deadline):
		return nil
	case p.Status == "answered" && answers && r != nil && r.Resolution == "answered" &&
		(m.resolution == "" || r.ResolutionID == m.resolution):
		return nil
	}
	return fmt.Errorf("%s is %s with %+v between %s and %s; its deadline is %s, and it was answered between %s and %s",
		m.id, p.Status, p.Response, before, after, m.deadline, m.answering, m.answered)
}

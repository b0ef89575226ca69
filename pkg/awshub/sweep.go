package awshub

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mash-hub/mash/pkg/callback"
	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/keyring"
	"github.com/mash-hub/mash/pkg/record"
)

const (
	// lastFire is how long before its deadline a sweep begins nothing more: a push takes callback.DefaultTimeout at most,
	// and what came of it is yet to be written.
	lastFire = callback.DefaultTimeout + 5*time.Second

	atOnce = 32 // records fired at once, mostly waiting for slow receivers
)

// Swept is what a sweep did.
type Swept struct {
	Fired  int  `json:"fired"`
	Failed int  `json:"failed"` // each is in the log, and due still
	Left   bool `json:"left"`   // whether time was up before everything was done
}

// Sweeper returns the worker that does what is due, to be run on a schedule: it makes certain what others make prompt. A
// run that overlaps another or is cut short does no harm, since Hub.TakeOver decides anew each time; but two at once may make
// the same push twice, so give it a concurrency of one. As long as there are no keys there is nothing to do.
func (c Config) Sweeper(ctx context.Context) (func(context.Context) (Swept, error), error) {
	l, err := c.worker(ctx, endpoint.Sweep)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (Swept, error) {
		h, err := l.get(ctx)
		if errors.Is(err, keyring.ErrNoKeys) {
			return Swept{}, nil
		}
		if err != nil {
			return Swept{}, err
		}
		s := sweep{hub: h, log: c.log(), seen: map[record.Entry]bool{}}
		err = s.run(ctx)
		return Swept{Fired: len(s.seen), Failed: int(s.failed.Load()), Left: s.left}, err
	}, nil
}

// sweep is one run.
type sweep struct {
	hub    *hub.Hub
	log    *slog.Logger
	seen   map[record.Entry]bool
	failed atomic.Int64
	left   bool
}

// run fires whatever is due, what falls due meanwhile included, until there is nothing new or its time is up. An entry
// that stays, because its record failed or the index lags, is fired once.
func (s *sweep) run(ctx context.Context) error {
	for fresh := true; fresh && !s.left; {
		var err error
		if fresh, err = s.pass(ctx); err != nil {
			s.left = true
			return err
		}
	}
	if s.left {
		s.log.WarnContext(ctx, endpoint.LogUnfinished)
	}
	return nil
}

// pass goes once through everything that is due, past what fails again and again, and says whether any of it was new.
func (s *sweep) pass(ctx context.Context) (fresh bool, _ error) {
	for after := (record.Entry{}); ; {
		due, err := s.hub.Store.Due(ctx, s.hub.Now(), after, record.MaxListLimit)
		if err != nil || len(due) == 0 {
			return fresh, err
		}
		after = due[len(due)-1]
		due = slices.DeleteFunc(due, func(e record.Entry) bool { return s.seen[e] })
		fresh = fresh || len(due) > 0
		if s.page(ctx, due); s.left {
			return fresh, nil
		}
	}
}

// page fires entries, several at once, and returns when all of them are done.
func (s *sweep) page(ctx context.Context, due []record.Entry) {
	var firing sync.WaitGroup
	defer firing.Wait()
	places := make(chan struct{}, atOnce)
	for _, e := range due {
		places <- struct{}{}
		if s.left = timeIsUp(ctx, s.hub.Now()); s.left {
			return
		}
		s.seen[e] = true
		firing.Go(func() {
			defer func() { <-places }()
			s.fire(ctx, e.Key)
		})
	}
}

func (s *sweep) fire(ctx context.Context, key record.Key) {
	if err := s.hub.TakeOver(ctx, key); err != nil {
		s.failed.Add(1)
		s.log.ErrorContext(ctx, endpoint.LogFailed, "key", key.String(), "err", err)
	}
}

// timeIsUp says whether so little is left before the deadline that nothing more should begin.
func timeIsUp(ctx context.Context, now time.Time) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && deadline.Sub(now) < lastFire
}

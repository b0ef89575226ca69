package recordtest

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/mash-hub/mash/pkg/record"
)

// The errors of the faults. No store knows them, so to a caller they are a store's own failures.
var (
	ErrThrottled = errors.New("recordtest: throttled")
	ErrTimeout   = errors.New("recordtest: no answer in time")
)

// Fault is a way for one Commit to go wrong: it stands in for the Commit of the store that it is given.
type Fault func(ctx context.Context, s record.Store, writes []record.Write) error

// Throttled fails before anything is written.
func Throttled(context.Context, record.Store, []record.Write) error { return ErrThrottled }

// TimedOut writes, and then fails as if it had not: the caller cannot know.
func TimedOut(ctx context.Context, s record.Store, writes []record.Write) error {
	if err := s.Commit(ctx, writes...); err != nil {
		return err
	}
	return ErrTimeout
}

// LostAnswer writes, loses the answer, calls meanwhile (which may be nil, or another write that overtakes), and then
// tries the very same Commit again, as an SDK does by itself. The caller gets the second answer.
func LostAnswer(meanwhile func()) Fault {
	return func(ctx context.Context, s record.Store, writes []record.Write) error {
		if err := s.Commit(ctx, writes...); err != nil {
			return err
		}
		if meanwhile != nil {
			meanwhile()
		}
		return s.Commit(ctx, writes...)
	}
}

// Overtaken calls first before it writes, so that another write can come in between what the caller has read and what it
// now commits.
func Overtaken(first func()) Fault {
	return func(ctx context.Context, s record.Store, writes []record.Write) error {
		first()
		return s.Commit(ctx, writes...)
	}
}

// Faulty is a Store whose Commits go wrong when Pick says how. Everything else passes through.
type Faulty struct {
	record.Store

	// Pick is asked about every Commit, perhaps by several goroutines at once, and returns nil for those that are to
	// work. Writes that a fault's own functions make on the Store within do not come by here.
	Pick func(writes []record.Write) Fault
}

// Commit implements record.Store.
func (f *Faulty) Commit(ctx context.Context, writes ...record.Write) error {
	if fault := f.Pick(writes); fault != nil {
		return fault(ctx, f.Store, writes)
	}
	return f.Store.Commit(ctx, writes...)
}

// Once returns a Pick that injects the fault into the first Commit for which match returns true, and into no other. A
// nil match is true for all.
func Once(match func(writes []record.Write) bool, fault Fault) func([]record.Write) Fault {
	var used atomic.Bool
	return func(writes []record.Write) Fault {
		if match != nil && !match(writes) || used.Swap(true) {
			return nil
		}
		return fault
	}
}

// Putting returns a match for Once: Commits that put a record of the kind.
func Putting(kind string) func([]record.Write) bool {
	return func(writes []record.Write) bool {
		for _, w := range writes {
			if w.Op == record.OpPut && w.Record.Kind == kind {
				return true
			}
		}
		return false
	}
}

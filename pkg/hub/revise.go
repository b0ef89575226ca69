package hub

import (
	"context"
	"fmt"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// maxRevisions is how often revise decides anew. Whenever one is too slow another was done, so that only as many who change
// the same at once would ever use it up.
const maxRevisions = 100

// revision is what somebody makes of a record: what to put, or nil where nothing is to be done, and the deeds.
type revision struct {
	put   *record.Record
	deeds []done
}

// done is what a deed says was done.
type done struct{ did, subject string }

// revise commits what f makes of a record, together with the deeds, and asks f again about the winner when another was
// faster. An error of f ends it. It is for what people change, which is seldom.
func (h *Hub) revise(ctx context.Context, c *Caller, rec record.Record, f func(record.Record) (revision, error)) error {
	for range maxRevisions {
		r, err := f(rec)
		if err != nil || r.put == nil {
			return err
		}
		writes := []record.Write{record.Put(*r.put, rec.Rev)}
		for _, d := range r.deeds {
			writes = append(writes, h.deed(c, d.did, d.subject, h.now()))
		}
		err = h.Store.Commit(ctx, writes...)
		if err == nil {
			return nil
		}
		won := false
		if conflict := record.AsConflict(err); conflict != nil {
			rec, won = conflict.Winner(r.put.Key)
		}
		if !won {
			return fmt.Errorf("write %s: %w", r.put.Kind, err)
		}
	}
	return errBusy()
}

// errBusy is the error of who was always too slow.
func errBusy() error {
	return &ma2h.Error{
		Code: ma2h.CodeUnavailable, RetryAfter: time.Second,
		Message: "Too many change this at the same time; try again.",
	}
}

package client

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/signature"
)

// maxActed is how many Responses an Acted remembers.
const maxActed = 10_000

// ErrInProgress is the error of an Acted for what is being acted on right now.
var ErrInProgress = errors.New("client: this is being acted on right now")

// Acted sees to it that a Response or an entry of a mailbox is acted on once, on whichever channel and however often it
// comes. The key of a Response is (InReplyTo, ResolutionID), that of a directive or message its id, that of a receipt
// (InReplyTo, Event) (spec §6, §8.3, §13.4). The zero value is ready to use. It is safe for concurrent use. It remembers
// the last 10,000 of this process; what must not happen twice in all needs a durable record of your own under
// the same key.
type Acted struct {
	mu    sync.Mutex
	done  map[actedKey]bool // false while it is being acted on
	order []actedKey        // of what is done, oldest first
}

type actedKey struct {
	kind              EntryKind
	about, resolution string
}

// Do calls act unless it was called for this Response before and returned nil; then it does nothing and returns nil. An
// error of act is returned, and lets the next delivery try again. While act runs, Do returns ErrInProgress to others.
func (a *Acted) Do(r *ma2h.Response, act func() error) error {
	return a.do(actedKey{KindResponse, r.InReplyTo, r.ResolutionID}, act)
}

// DoEntry is Do for an entry of a mailbox. A Response that came by Pull or push and one that comes as an entry are one.
func (a *Acted) DoEntry(e Entry, act func() error) error { return a.do(e.act(), act) }

func (a *Acted) do(key actedKey, act func() error) error {
	done, err := a.begin(key)
	if done || err != nil {
		return err
	}
	succeeded := false
	defer func() { a.end(key, succeeded) }() // whatever act does, a panic included
	if err := act(); err != nil {
		return err
	}
	succeeded = true
	return nil
}

func (a *Acted) begin(key actedKey) (done bool, _ error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	done, known := a.done[key]
	if known && !done {
		return false, ErrInProgress
	}
	if known {
		return true, nil
	}
	if a.done == nil {
		a.done = map[actedKey]bool{}
	}
	a.done[key] = false
	return false, nil
}

func (a *Acted) end(key actedKey, succeeded bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !succeeded {
		delete(a.done, key)
		return
	}
	a.done[key] = true
	if a.order = append(a.order, key); len(a.order) > maxActed {
		delete(a.done, a.order[0])
		a.order = a.order[1:]
	}
}

// Handler returns a handler for the callback's URL. It verifies each push and calls act with it, once for each Response
// even when the hub delivers it again (spec §8.3). It answers
//   - 204 when act returns nil or did so before;
//   - 503 when act returns an error, is at work on the Response right now, the body did not arrive whole, or the hub's keys
//     cannot be fetched: the hub sends it again;
//   - 401 to what does not verify, 405 to what is no POST, 409 to a delivery that was seen before, and 413 to a body that
//     is too large: the hub does not send any of these again.
func (v *Verifier) Handler(act func(ctx context.Context, r *ma2h.Response) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		response, err := v.Verify(req)
		if err != nil && !errors.Is(err, ErrUnread) && !errors.Is(err, ErrNoKeys) {
			http.Error(w, "not accepted", refusalStatus(req, err)) // why is not the sender's business
			return
		}
		if err == nil {
			err = v.acted.Do(response, func() error { return act(req.Context(), response) })
		}
		if err != nil {
			w.Header().Set("Retry-After", "1")
			http.Error(w, "try again", http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

// refusalStatus is the status of what will be no better the next time.
func refusalStatus(r *http.Request, err error) int {
	switch {
	case r.Method != http.MethodPost:
		return http.StatusMethodNotAllowed
	case errors.Is(err, ErrTooLarge):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, signature.ErrReplayed):
		return http.StatusConflict
	}
	return http.StatusUnauthorized
}

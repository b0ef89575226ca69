package hub

import (
	"context"
	"time"

	"github.com/mash-hub/mash/pkg/lifecycle"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// CallbackView is what a person sees of a message's callback: where its answer goes, and how far that has come. It names
// the host alone, for the rest of a URL may be a secret of the agent's.
type CallbackView struct {
	Host     string        `json:"host"`
	Scheme   string        `json:"scheme,omitzero"` // of an answer
	State    CallbackState `json:"state"`
	Attempts []Attempt     `json:"attempts,omitzero"` // the latest, oldest first
	Earlier  int           `json:"earlier,omitzero"`  // attempts before those
	Next     time.Time     `json:"next,omitzero"`     // when the next attempt comes

	// GivenUpAt is when the hub gave up. SendAgain says whether the person may have it sent again.
	GivenUpAt time.Time `json:"given_up_at,omitzero"`
	SendAgain bool      `json:"send_again,omitzero"`
}

// CallbackState is how far a callback has come.
type CallbackState string

// The states of a callback.
const (
	CallbackWaits     CallbackState = "waiting"   // for the outcome
	CallbackTries     CallbackState = "trying"    // an attempt is due, or another one after those that failed
	CallbackDelivered CallbackState = "delivered" // an attempt was answered with 2xx
	CallbackGivenUp   CallbackState = "given_up"  // none will be made any more, unless a person wants it
)

// callback is what the caller sees of a message's callback; nil when its answer is only fetched.
func (s *State) callback(c *Caller) *CallbackView {
	v := s.pushed()
	if v == nil {
		return nil
	}
	if s.Response == nil {
		v.State = CallbackWaits
	}
	v.SendAgain = s.refuseAgain() == nil && !s.Push.fresh() && ownerOnly(c) == nil
	return v
}

// pushed is how far the callback of a message or the webhook of a directive has come; nil for none.
func (s *State) pushed() *CallbackView {
	w := s.Push
	if w == nil {
		return nil
	}
	v := &CallbackView{
		Host: shownHost(w.URL), Scheme: w.Auth.Scheme, Attempts: w.Attempts, Earlier: w.Dropped, State: CallbackTries, Next: w.Next,
	}
	switch n := len(w.Attempts); {
	case w.delivered():
		v.State = CallbackDelivered
	case w.Done && n > 0:
		v.State, v.GivenUpAt = CallbackGivenUp, w.Attempts[n-1].At
	case w.Done, s.Type == ma2h.TypeDirective && !s.Mail.lives(): // what is over is not pushed any more
		v.State, v.GivenUpAt, v.Next = CallbackGivenUp, s.endedAt(), time.Time{}
	}
	return v
}

// endedAt is when a message, or the way of a directive, ended.
func (s *State) endedAt() time.Time {
	if s.Type == ma2h.TypeDirective {
		return s.Mail.At
	}
	return s.StatusAt
}

// fresh says whether the first attempt of a round is still to be made, so that there is nothing to be sent again.
func (w *PushWork) fresh() bool { return !w.Done && w.made() == w.Before }

// SendAgain has the Response of a message pushed again, at once and with a whole retry policy of its own. It is the same
// Response with the same resolution_id, so that a receiver which has it after all does nothing twice. What the agent is
// known to have is not sent again.
func (h *Hub) SendAgain(ctx context.Context, c *Caller, id string) error {
	if err := ownerOnly(c); err != nil {
		return err
	}
	m, err := h.load(ctx, c, id)
	if err != nil {
		return err
	}
	if m.state.Account != c.Account.Ref {
		return errUnknown()
	}
	now := h.now()
	if err := h.settle(ctx, m, now); err != nil {
		return err
	}
	if err := gone(&m.state, now); err != nil {
		return err
	}
	var refused error
	deed := h.deed(c, "send_again", m.state.ID, now)
	err = h.change(ctx, m, []record.Write{deed}, func(s *State) bool {
		if refused = s.refuseAgain(); refused != nil || s.Push.fresh() {
			return false
		}
		w := *s.Push
		w.Round, w.Began, w.Before = w.Round+1, now, w.made()
		w.Next, w.Done = now, false
		s.Push = &w
		return true
	})
	if err != nil {
		return err
	}
	if refused != nil {
		return refused
	}
	h.announce(ctx, m)
	return nil
}

// refuseAgain says why a callback cannot be sent again, or returns nil.
func (s *State) refuseAgain() error {
	refuse := func(message string) error { return ma2h.Errorf(ma2h.CodeInvalidField, "%s", message) }
	switch {
	case s.Deleted || !lifecycle.Terminal(s.Status) || s.Response == nil:
		return refuse("There is no answer yet that could be sent.")
	case s.Push == nil:
		return refuse("The agent gave no address for its answer; it fetches it.")
	case s.Push.delivered() || s.Delivery != nil && s.Delivery.State != ma2h.TrackExpired:
		return refuse("The agent has this answer already.")
	case !s.RetainedAt.IsZero():
		return refuse("The answer is too old to be sent.")
	}
	return nil
}

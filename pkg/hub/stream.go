package hub

import (
	"context"
	"errors"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// StreamOptions is the query of a stream (spec §8.7.2).
type StreamOptions struct {
	Session string // that the agent presents
	Unread  bool   // for who is not shown anything, as by HEAD: it is opened for nobody

	Stop <-chan struct{} // closed when nothing may be held any longer; nil for never
}

// Stream is a session's mailbox that is held open, so that what arrives is pushed at once (spec §8.7.2).
type Stream struct {
	hub     *Hub
	caller  *Caller
	drainer *drainer
	stop    <-chan struct{}
	out     Outlet
	begun   bool
}

// Pushed is one entry on a stream.
type Pushed struct {
	Kind EntryKind
	Key  string // what an ack names it by (spec §8.7.1)
	Data []byte // an element of the messages of a drain
}

// Outlet is where a stream goes. An error of either says that nobody can be reached any more, and ends the stream.
type Outlet interface {
	Push(Pushed) error
	Beat() error // something that says nothing
}

// What ends a stream without being an error to anybody who could be told.
var (
	errUnread    = errors.New("nobody reads the stream")
	errElsewhere = errors.New("the session has opened another stream")
)

// OpenStream opens a stream of the caller's session, which renews the session's lease once: whatever happens on it afterwards
// is no sign of life (spec §8.7.2, §16.2). One that the session had before ends, so that nothing is pushed to where nobody
// may be any more. One that is Unread cannot be run. The errors are those of a session that cannot be presented, and validation_error for none.
func (h *Hub) OpenStream(ctx context.Context, c *Caller, o StreamOptions) (*Stream, error) {
	if err := agentOnly(c); err != nil {
		return nil, err
	}
	if o.Session == "" {
		return nil, ma2h.FieldErrorf(ma2h.CodeValidationError, "/session",
			"A stream belongs to a session; register one with POST /v1/sessions and name it by ?session=.")
	}
	now := h.now()
	s, err := h.presented(ctx, c, o.Session, now)
	if err != nil {
		return nil, err
	}
	if o.Unread {
		return &Stream{}, h.renew(ctx, s, now)
	}
	if err := h.renewAs(ctx, s, now, ma2h.NewTail()); err != nil {
		return nil, err
	}
	h.Bell.Ring(ctx, sessionLane(s.tail())) // for the one before
	return &Stream{hub: h, caller: c, drainer: h.streamer(c.Agent, s), stop: o.Stop}, nil
}

// streamer takes entries for a stream.
func (h *Hub) streamer(a *Agent, s *session) *drainer {
	d := &drainer{agent: a, session: s, stream: true}
	if !h.still {
		d.window = h.Settings.MaxBatch
	}
	return d
}

// Hold is for how long the stream may be held from now on: for Settings.StreamMaxHold, but not until the session's lease ends
// but a margin before that, so that whoever opens it again at once renews the lease in time. On a hub whose clock stands still
// it pushes what is there and ends.
func (s *Stream) Hold() time.Duration { return s.hub.holdOf(s.drainer.session) }

// Run pushes what waits in the mailbox and what arrives there, each entry signed anew and hidden for
// Settings.VisibilityTimeout as by a drain. It ends when the time is over, Stop is closed, another stream of the session is
// opened, nobody reads it any more, or ctx is done. The errors are those of a session or a credential that is good no more.
func (s *Stream) Run(ctx context.Context, out Outlet) error {
	s.out = out
	acked, end := s.hub.Bell.Listen(ctx, ackLane(s.drainer.session.ID))
	defer end()
	w := &watch{hold: s.Hold(), stop: s.stop, look: s.look, again: s.again, beat: out.Beat, acked: acked}
	err := s.hub.keep(ctx, w, s.drainer)
	if errors.Is(err, errUnread) || errors.Is(err, errElsewhere) {
		return nil
	}
	return err
}

// look claims what there is and pushes it.
func (s *Stream) look(ctx context.Context, d *drainer) (got haul, done bool, err error) {
	for {
		if got, err = s.hub.take(ctx, d, s.hub.Settings.MaxBatch, s.hub.now()); err != nil {
			return got, false, err
		}
		if err := s.push(got.entries); err != nil {
			return got, false, err // what was claimed is there again when its time is over
		}
		if !s.hub.still || !got.more {
			return got, s.hub.still, nil
		}
	}
}

func (s *Stream) push(entries []delivered) error {
	if !s.begun { // so that the reader knows that it is there
		s.begun = true
		if s.out.Beat() != nil {
			return errUnread
		}
	}
	for _, e := range entries {
		if s.out.Push(Pushed{e.kind, e.key, e.appendTo(nil)}) != nil {
			return errUnread
		}
	}
	return nil
}

// again reads anew whose stream it is, and whether it is still the session's only one.
func (s *Stream) again(ctx context.Context) (*drainer, error) {
	d, err := s.hub.drainsStill(ctx, s.caller, s.drainer.session.ID)
	if err != nil {
		return nil, err
	}
	if d.session.Stream != s.drainer.session.Stream {
		return nil, errElsewhere
	}
	return s.hub.streamer(d.agent, d.session), nil
}

package httpapi

import (
	"errors"
	"net/http"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// stream pushes to an agent what comes into the mailbox of its session (spec §8.7.2). What is wrong before anything was
// pushed is answered as anywhere else; later there is only an end.
func (s *Server) stream(c *call) (any, error) {
	caller, session, err := s.underSession(c)
	if err != nil {
		return nil, err
	}
	o := hub.StreamOptions{Session: session, Unread: c.r.Method == http.MethodHead, Stop: s.Stopping}
	held, err := c.hub.OpenStream(c.r.Context(), caller, o)
	if err != nil {
		return nil, err
	}
	e := &events{w: c.w, out: http.NewResponseController(c.w)}
	if o.Unread {
		e.begin()
		return written{}, nil
	}
	e.ends = time.Now().Add(held.Hold() + closeWithin)
	err = held.Run(c.r.Context(), e)
	if !e.begun {
		return written{}, err
	}
	if err != nil && ma2h.AsError(err) == nil {
		_ = internal(s.Log, c.r, err) // which only the log is told
	}
	e.close(err)
	return written{}, nil
}

const (
	writeWithin = 10 * time.Second // or the reader is as good as gone
	closeWithin = time.Second      // for the last words of a stream
	reconnect   = "retry: 100\n"   // milliseconds after which to open the stream again, which renews the lease
)

// events writes server-sent events, each of them to the wire at once. Whoever does not read them in time is as good as gone.
type events struct {
	w     http.ResponseWriter
	out   *http.ResponseController
	ends  time.Time // no write lasts longer
	begun bool
	text  []byte // of one event
}

func (e *events) begin() {
	e.begun = true
	e.w.Header().Set("Content-Type", "text/event-stream")
	e.w.Header().Set("X-Content-Type-Options", "nosniff")
	e.w.Header().Set("X-Accel-Buffering", "no") // a proxy that would collect it first
	e.w.WriteHeader(http.StatusOK)
}

// Push implements hub.Outlet. What the hub encodes is one line, however it came.
func (e *events) Push(p hub.Pushed) error {
	e.text = append(e.text[:0], "event: "...)
	e.text = append(e.text, p.Kind...)
	e.text = append(e.text, "\nid: "...)
	e.text = append(e.text, p.Key...)
	e.text = append(e.text, "\ndata: "...)
	e.text = append(e.text, p.Data...)
	return e.send(append(e.text, "\n\n"...))
}

// Beat implements hub.Outlet.
func (e *events) Beat() error {
	if !e.begun {
		e.begin()
		return e.send([]byte(reconnect + ": it is open\n\n"))
	}
	return e.send([]byte(": it is still open\n\n"))
}

// close says that the stream ends of itself, and leaves the connection to the next request. Who may not go on is not told to.
func (e *events) close(why error) {
	last := ": it ends here; open it again\n\n"
	if ma2h.AsError(why) != nil {
		last = ": it ends here\n\n"
	}
	if e.send([]byte(last)) == nil {
		_ = e.out.SetWriteDeadline(time.Time{}) // not every connection has one
	}
}

func (e *events) send(text []byte) error {
	by := time.Now().Add(writeWithin)
	if e.ends.Before(by) {
		by = e.ends
	}
	if err := e.out.SetWriteDeadline(by); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := e.w.Write(text); err != nil {
		return err
	}
	if err := e.out.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

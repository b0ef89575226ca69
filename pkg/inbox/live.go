package inbox

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// How a page looks again by itself. Our own script asks for the address of the page with liveQuery, each time when the
// stream rings, or now and then where no stream can be held, and takes over what differs.
const (
	liveQuery  = "live"
	eventsPath = "/live/events"
)

// liveRoutes are what our script reads beside pages.
func liveRoutes() []route {
	return []route{{http.MethodGet, eventsPath, (*visit).hold, false}}
}

// live is what a page tells our script.
type live struct {
	Look   string // where to look again; empty for a page that stays as it is
	Events string // the stream that says when; empty where none can be held
	Times  string // how lengths of time are said, as a JSON array
}

// liveAt makes the page at a path look again.
func (v *visit) liveAt(path string) live {
	sep := "?"
	if strings.Contains(path, sep) {
		sep = "&"
	}
	l := live{Look: path + sep + liveQuery + "=1", Times: v.words.times()}
	if v.in.config.Stream {
		l.Events = eventsPath
	}
	return l
}

// looksAgain says whether our script asks, which has the page already and wants to know what differs.
func (v *visit) looksAgain() bool { return v.r.URL.Query().Has(liveQuery) }

// Words that change by themselves as time goes on. What else differs is news.
var (
	passing = regexp.MustCompile(`(<time data-t="(?:ago|left)"[^>]*>)[^<]*|<time data-t="now"[^>]*>[^<]*`)
	etagLen = 16
)

// unchanged answers our script without a body where it has what the page says, and says whether it did.
func (v *visit) unchanged(page []byte) bool {
	if !v.looksAgain() {
		return false
	}
	sum := sha256.Sum256(passing.ReplaceAll(page, []byte("$1")))
	tag := `"` + hex.EncodeToString(sum[:etagLen]) + `"`
	v.w.Header().Set("ETag", tag)
	if v.r.Header.Get("If-None-Match") != tag {
		return false
	}
	v.w.WriteHeader(http.StatusNotModified)
	return true
}

// The pace of a stream.
const (
	beatEvery   = 15 * time.Second      // so that both sides notice when the other is gone
	ringsApart  = 20 * time.Millisecond // of two rings, however much happens
	writeWithin = 10 * time.Second      // or the reader is as good as gone
	streamEnds  = time.Hour             // and is begun again, with another look at who reads it
)

// hold is a stream that rings when something changes in what the visitor's pages show, and says nothing of what. While
// nothing happens it costs the store nothing. It ends with the session, with the process, and when the session holds too
// many.
func (v *visit) hold() error {
	if !v.in.config.Stream {
		v.w.WriteHeader(http.StatusNoContent) // which tells a browser not to come back
		return nil
	}
	place, leave := v.in.streams.enter(v.cookie)
	if place == nil {
		return &ma2h.Error{Code: ma2h.CodeUnavailable, RetryAfter: time.Minute, Message: "Too many pages are open."}
	}
	defer leave()
	v.w.Header().Set("Content-Type", "text/event-stream")
	v.w.Header().Set("X-Accel-Buffering", "no") // a proxy that would collect it first
	if v.r.Method == http.MethodHead {
		return nil
	}
	s := &stream{visit: v, out: http.NewResponseController(v.w), place: place}
	ctx := v.r.Context()
	var end func()
	s.account, end = v.hub.Bell.Listen(ctx, hub.AccountLane(v.caller.Account.Ref))
	defer end()
	s.person, end = v.hub.Bell.Listen(ctx, hub.PersonLane(v.caller.Person.Ref))
	defer end()
	s.run()
	return nil
}

// stream is one that is held.
type stream struct {
	*visit
	out             *http.ResponseController
	account, person <-chan struct{}
	place           <-chan struct{} // closed when another page needs it
	last            time.Time       // when it last rang
}

// run holds the stream until something ends it. It begins with a ring, for what happened before it listened.
func (s *stream) run() {
	beat, end := time.NewTicker(beatEvery), time.NewTimer(streamEnds)
	defer beat.Stop()
	defer end.Stop()
	for event := "look"; s.send(event); {
		select {
		case <-s.account:
			event = s.ring()
		case <-s.person:
			event = s.ring()
		case <-beat.C:
			event = "beat"
		case <-end.C:
			return
		case <-s.place:
			_ = s.send("full")
			return
		case <-s.in.config.Stopping:
			return
		case <-s.r.Context().Done():
			return
		}
		if event == "" {
			return
		}
	}
}

// ring returns the event for something that changed, or none for a session that has ended. What happens shortly after the
// last ring is told with what happens until then.
func (s *stream) ring() string {
	pause := time.NewTimer(ringsApart - time.Since(s.last))
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-s.in.config.Stopping:
	case <-s.r.Context().Done():
	}
	s.last = time.Now()
	_, _, err := s.authenticator().Session(s.r.Context(), s.cookie)
	if e := ma2h.AsError(err); e != nil && e.Code == ma2h.CodeUnauthenticated {
		_ = s.send("out")
		return ""
	}
	return "look"
}

// send writes an event, and says whether the reader is still there.
func (s *stream) send(event string) bool {
	if err := s.out.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return false
	}
	if _, err := s.w.Write([]byte("event: " + event + "\ndata: 1\n\n")); err != nil {
		return false
	}
	return s.out.Flush() == nil
}

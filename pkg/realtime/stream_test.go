package realtime_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/signature"
)

// streamURL is where the hub says that streams are.
func (s *server) streamURL() string {
	s.t.Helper()
	return s.nobody().call(endpoint.Discovery, nil).is(http.StatusOK).str("/inbound/stream_url")
}

// placeOf is a path of an endpoint as a request names it: streams may be at another place than all else.
func (s *server) placeOf(e endpoint.Endpoint, path string) string {
	if !e.Streamed {
		return path
	}
	return s.streamURL()
}

// event is one server-sent event.
type event struct{ kind, key, data string }

// stream is one that is held.
type stream struct {
	*server
	events chan event // closed at its end
	leave  context.CancelFunc
}

// tryStream opens a stream, and returns once it is open. The answer is whatever else the hub says.
func (c *caller) tryStream(session string) (*stream, *answer, error) {
	ctx, leave := context.WithTimeout(context.Background(), 2*patience)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.streamURL()+"?session="+session, nil)
	if err != nil {
		leave()
		return nil, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	resp, err := c.client.Do(req)
	if err != nil {
		leave()
		return nil, nil, err
	}
	if resp.StatusCode != http.StatusOK {
		defer leave()
		defer resp.Body.Close()
		return nil, &answer{t: c.t, what: "GET " + req.URL.Path, status: resp.StatusCode, header: resp.Header}, nil
	}
	c.count(endpoint.Stream)
	s := &stream{c.server, make(chan event, 100), leave}
	go s.read(resp)
	return s, nil, nil
}

// stream opens a stream of a session.
func (c *caller) stream(session string) *stream {
	c.t.Helper()
	s, a, err := c.tryStream(session)
	if err != nil || s == nil {
		c.t.Fatalf("a stream = %+v, %v; want one", a, err)
	}
	c.t.Cleanup(s.leave)
	return s
}

func (s *stream) read(resp *http.Response) {
	defer s.leave()
	defer resp.Body.Close()
	defer close(s.events)
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for e := (event{}); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "event":
			e.kind = value
		case "id":
			e.key = value
		case "data":
			e.data = value
			s.events <- e
		}
	}
}

var errEnded = errors.New("the stream has ended")

// next is what the stream pushes next.
func (s *stream) next() (event, error) {
	select {
	case e, open := <-s.events:
		if !open {
			return e, errEnded
		}
		return e, nil
	case <-time.After(patience):
		return event{}, errors.New("nothing for so long")
	}
}

// hears opens streams of a session, one after the other as they end, until one pushes something.
func (c *caller) hears(session string, s *stream) (event, *stream) {
	c.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		e, err := s.next()
		if err == nil {
			return e, s
		}
		s = c.stream(session)
	}
	c.t.Fatalf("nothing is pushed within %s", patience)
	return event{}, nil
}

// streamsOf goes once through what there is of streams.
func (s *server) streamsOf(bot *caller) {
	s.t.Helper()
	session := bot.call(endpoint.SessionAdd, nil).is(http.StatusCreated).str("/session/id")
	held := bot.stream(session)
	id := s.directs(bot, session)
	e, _ := bot.hears(session, held)
	if e.kind != "directive" || e.key != id || lookUp(mustParse(s.t, []byte(e.data)), "/directive/id") != id {
		s.t.Errorf("the stream pushes %+v, want the directive %s", e, id)
	}
	s.owner.call(endpoint.DirectiveRead, nil, id).is(http.StatusOK).shows("/mailbox/state", "queued")
	bot.call(endpoint.InboxAck, doc{"ids": []string{id}}).is(http.StatusOK).shows("/acked", 1)
	s.owner.call(endpoint.DirectiveRead, nil, id).is(http.StatusOK).shows("/mailbox/state", "acknowledged")
	bot.call(endpoint.SessionClose, nil, session).is(http.StatusOK)
}

// TestB60_AStreamPushesWhileItIsOpen: what is sent after the first has come is pushed by the same stream. A stream that is slow
// to begin may be over before that.
func TestB60_AStreamPushesWhileItIsOpen(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		session := bot.call(endpoint.SessionAdd, nil).is(http.StatusCreated).str("/session/id")
		for range 5 {
			held := bot.stream(session)
			pushed := held.pushes(s.directs(bot, session))
			if pushed && held.pushes(s.directs(bot, session)) {
				return
			}
		}
		s.t.Error("no stream pushes anything before its end")
	})
}

// directs sends a directive to a session.
func (s *server) directs(bot *caller, session string) (id string) {
	s.t.Helper()
	return s.owner.call(endpoint.DirectiveSend, doc{"to": bot.actor + "#" + session, "title": "Stop"}).is(http.StatusCreated).str("/id")
}

// pushes says whether the stream pushes this before its end.
func (s *stream) pushes(key string) bool {
	for {
		if e, err := s.next(); err != nil || e.key == key {
			return err == nil
		}
	}
}

// TestB60_WhoConnectsAgainMissesNothing: streams end at their hold, and the next goes on where the one before ended. What is
// acknowledged in time comes once.
func TestB60_WhoConnectsAgainMissesNothing(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		session := bot.call(endpoint.SessionAdd, nil).is(http.StatusCreated).str("/session/id")
		capability := s.nobody().call(endpoint.Discovery, nil).is(http.StatusOK)
		number := func(pointer string) time.Duration {
			n, err := capability.at(pointer).(json.Number).Int64()
			if err != nil {
				s.t.Fatal(err)
			}
			return time.Duration(n) * time.Second
		}
		hold := number("/inbound/stream_max_hold_seconds")
		if fresh := number("/presence/freshness_seconds"); hold < time.Second || hold > fresh {
			s.t.Fatalf("a stream is held for %s, and %s are fresh", hold, fresh)
		}
		direct := func() string {
			return s.owner.call(endpoint.DirectiveSend, doc{"to": bot.actor, "title": "Stop"}).is(http.StatusCreated).str("/id")
		}
		held := bot.stream(session)
		leased := func() string {
			return bot.call(endpoint.SessionRead, nil, session).is(http.StatusOK).str("/session/expires_at")
		}
		for range 3 {
			id := direct()
			var e event
			e, held = bot.hears(session, held)
			lease := leased()
			bot.call(endpoint.InboxAck, doc{"ids": []string{e.key}}).is(http.StatusOK)
			if e.key != id {
				s.t.Errorf("the stream pushes %s, want %s", e.key, id)
			}
			began := time.Now()
			for _, err := held.next(); err == nil; {
				_, err = held.next()
			}
			if took := time.Since(began); took > hold+patience {
				s.t.Errorf("a stream that may be held for %s ended after %s", hold, took)
			}
			if now := leased(); now != lease {
				s.t.Errorf("the lease ends at %s; while the stream was only held, that became %s", lease, now)
			}
			held = bot.stream(session)
			if now := leased(); now <= lease { // times of one length
				s.t.Errorf("the lease ends at %s after connecting again, and at %s before", now, lease)
			}
		}
	})
}

// TestB59_StreamsShareWhatIsForAll: what streams of several sessions push at the same time is pushed by one of them. Where a hub
// is slow, an entry may come again before all are there, but not within the second in which it was signed.
func TestB59_StreamsShareWhatIsForAll(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		const many = 12
		got := make(chan delivery, 40*many)
		var sessions []string
		for range 3 {
			session := bot.call(endpoint.SessionAdd, nil).is(http.StatusCreated).str("/session/id")
			held := bot.stream(session)
			sessions = append(sessions, session)
			go func() {
				for e := range held.events {
					got <- deliveryOf(e.key, e.data)
				}
			}()
		}
		for range many {
			s.owner.call(endpoint.DirectiveSend, doc{"to": bot.actor, "title": "Stop"}).is(http.StatusCreated)
		}
		seen, keys := map[delivery]bool{}, map[string]bool{}
		s.until("all is pushed or drained", func() bool {
			for len(got) > 0 {
				d := <-got
				if seen[d] {
					s.t.Errorf("%s comes twice within a second", d.key)
				}
				seen[d], keys[d.key] = true, true
			}
			if len(keys) < many { // whatever comes after the streams have ended
				drained := bot.get("/v1/inbox?session=" + sessions[0]).is(http.StatusOK)
				for _, e := range drained.at("/messages").([]any) {
					got <- deliveryOf(lookUp(e, "/directive/id").(string), lookUp(e, "/signature").(string))
				}
			}
			return len(keys) == many
		})
	})
}

// delivery is an entry that came, and the second in which it was signed.
type delivery struct{ key, second string }

func deliveryOf(key, signed string) delivery {
	_, second, _ := strings.Cut(signed, signature.HeaderName+": t=")
	second, _, _ = strings.Cut(second, ",")
	return delivery{key, second}
}

// TestB48_AStreamEndsWithItsSession: within its hold at the latest, and there is no other.
func TestB48_AStreamEndsWithItsSession(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		session := bot.call(endpoint.SessionAdd, nil).is(http.StatusCreated).str("/session/id")
		held := bot.stream(session)
		s.owner.call(endpoint.AgentStop, doc{"agent": bot.id}).is(http.StatusNoContent)
		if e, err := held.next(); !errors.Is(err, errEnded) {
			s.t.Errorf("the stream of a session that has ended pushes %+v, %v; want its end", e, err)
		}
		if _, a, err := bot.tryStream(session); err != nil || a == nil || a.status != http.StatusGone {
			s.t.Errorf("another stream = %+v, %v; want 410", a, err)
		}
	})
}

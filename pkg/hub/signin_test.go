package hub_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/auth"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// signIn tries a password and says how that went: in, wrong, or how long to wait.
func (h *house) signIn(name, guess, mark string) string {
	h.t.Helper()
	_, session, err := h.SignIn(h.t.Context(), name, guess, hub.Browser{Mark: mark})
	switch e := ma2h.AsError(err); {
	case err == nil && h.opens(session):
		return "in"
	case errors.Is(err, hub.ErrWrongPassword):
		return "wrong"
	case e != nil && e.Code == ma2h.CodeRateLimited:
		return "wait " + e.RetryAfter.String()
	}
	return fmt.Sprint(err)
}

// tried is what comes of guesses one after the other.
func (h *house) tried(n int, name, guess, mark string) string {
	h.t.Helper()
	var out []string
	for range n {
		out = append(out, h.signIn(name, guess, mark))
	}
	return strings.Join(out, " ")
}

func (h *house) same(what, got, want string) {
	h.t.Helper()
	if got != want {
		h.t.Errorf("%s: %s, want %s", what, got, want)
	}
}

func TestThePasswordSignsIn(t *testing.T) {
	inHouses(t, func(h *house) {
		h.join("bob", hub.RoleMember, good)
		h.same("the right one", h.signIn("bob", good, ""), "in")
		h.same("a wrong one", h.signIn("bob", good+"!", ""), "wrong")
		h.same("a very long one", h.signIn("bob", strings.Repeat(good, 100), ""), "wrong")
		h.same("an empty one", h.signIn("bob", "", ""), "wrong")
		h.same("of somebody without one", h.signIn("ada", "", ""), "wrong")
		h.same("of nobody", h.signIn("nobody", good, ""), "wrong")
		h.same("the right one again", h.signIn("bob", good, ""), "in")
	})
}

func TestGuessesWaitLongerAndLonger_AlikeForNamesThatNobodyHas(t *testing.T) {
	inHouses(t, func(h *house) {
		h.join("bob", hub.RoleMember, good)
		for _, name := range []string{"bob", "nobody", "ada"} {
			h.same("five guesses and one more for "+name, h.tried(6, name, "x", ""), "wrong wrong wrong wrong wrong wait 15s")
		}
		h.pass(15 * time.Second)
		for _, name := range []string{"bob", "nobody"} {
			h.same("the next ones for "+name, h.tried(2, name, "x", ""), "wrong wait 30s")
		}
		for range 20 {
			h.pass(15 * time.Minute)
			h.signIn("bob", "x", "")
		}
		h.same("the longest wait", h.signIn("bob", good, ""), "wait 15m0s")
		h.pass(15 * time.Minute)
		h.same("after it", h.signIn("bob", good, ""), "in")
		h.same("the right one forgets them", h.tried(5, "bob", "x", ""), "wrong wrong wrong wrong wrong")
		h.pass(25 * time.Hour)
		h.same("and so does a day", h.tried(5, "nobody", "x", ""), "wrong wrong wrong wrong wrong")
	})
}

func TestGuessesLockNobodyOutOfTheirOwnBrowserNorOutOfLinks(t *testing.T) {
	inHouses(t, func(h *house) {
		bob, _ := h.join("bob", hub.RoleMember, good)
		mark, other := h.BrowserMark(bob), h.BrowserMark(bob)
		h.tried(6, "bob", "x", "")
		h.same("an unknown browser", h.signIn("bob", good, ""), "wait 15s")
		h.same("a forged mark", h.signIn("bob", good, strings.Repeat("a", 26)+mark[26:]), "wait 15s")
		h.same("another's mark", h.signIn("bob", good, h.BrowserMark(h.ada)), "wait 15s")
		h.same("guesses in one's own", h.tried(6, "bob", "x", mark), "wrong wrong wrong wrong wrong wait 15s")
		h.same("another of one's own", h.signIn("bob", good, other), "in")
		link, err := h.NewLogin(t.Context(), bob, hub.LoginLink, time.Hour)
		h.must(err)
		_, rec, err := auth.For(h.Hub).Link(t.Context(), link)
		h.must(err)
		if _, err := h.RedeemLink(t.Context(), bob, rec, hub.Browser{}); err != nil {
			t.Errorf("a link while others guess: %v", err)
		}
	})
}

func TestGuessesMadeAtOnceAreCountedOneByOne(t *testing.T) {
	inHouses(t, func(h *house) {
		h.join("bob", hub.RoleMember, good)
		var mu sync.Mutex
		got := map[string]int{}
		var all sync.WaitGroup
		for range 40 {
			all.Go(func() {
				s := h.signIn("bob", "x", "")
				mu.Lock()
				defer mu.Unlock()
				got[s]++
			})
		}
		all.Wait()
		if got["wrong"] != 5 || got["wait 15s"] != 35 {
			t.Errorf("40 guesses at once: %v, want 5 looked at", got)
		}
	})
}

func TestAPasswordIsKeptUnderTodaysParameters(t *testing.T) {
	inHouses(t, func(h *house) {
		bob, _ := h.join("bob", hub.RoleMember, good)
		key := record.Key{Part: hub.PersonKey(bob.Person.Ref).Part, Sort: "password"}
		costs := func() string {
			recs, err := h.Store.Get(t.Context(), key)
			h.must(err)
			_, after, _ := strings.Cut(string(recs[0].Body), "$argon2id$v=19$")
			cost, _, _ := strings.Cut(after, "$")
			return cost
		}
		h.same("at first", costs(), "m=64,t=1,p=1")
		settings := h.Settings
		settings.PasswordCost.Time = 3
		later := hub.New(h.Store, h.Keys, h.Pusher, h.Bell, h.Clockwork, settings)
		later.Now = h.Now
		if _, _, err := later.SignIn(t.Context(), "bob", good, hub.Browser{}); err != nil {
			t.Fatal(err)
		}
		h.same("after signing in", costs(), "m=64,t=3,p=1")
		h.same("which the older hub reads", h.signIn("bob", good, ""), "in")
	})
}

// visitor is the person of a session.
func (h *house) visitor(session string) *hub.Caller {
	h.t.Helper()
	c, _, err := auth.For(h.Hub).Session(h.t.Context(), session)
	h.must(err)
	return c
}

func TestAPasswordIsChosenInAFreshSessionOrByTheOneBefore(t *testing.T) {
	inHouses(t, func(h *house) {
		_, old := h.join("bob", hub.RoleMember, "")
		set := func(session, current, next string) (string, error) {
			return h.SetPassword(t.Context(), h.visitor(session), hub.NewPassword{Current: current, New: next})
		}
		for _, weak := range []string{"short", "password1234", "bobbobbobbob", "qwertyuiop"} {
			_, err := set(old, "", weak)
			h.refused(weak, err, ma2h.CodeInvalidField)
		}
		session, err := set(old, "", good)
		h.must(err)
		if h.opens(old) || !h.opens(session) {
			t.Errorf("after choosing a password the old session is %t, the new one %t", h.opens(old), h.opens(session))
		}
		h.pass(hub.SessionFresh)
		for _, wrong := range []string{"", "x", good + "!"} {
			_, err := set(session, wrong, "another fine thing")
			h.refused("the current one as "+wrong, err, ma2h.CodeInvalidField)
		}
		session, err = set(session, good, "another fine thing")
		h.must(err)
		h.same("the old one", h.signIn("bob", good, ""), "wrong")
		h.same("the new one", h.signIn("bob", "another fine thing", ""), "in")
		_, err = set(session, "", "")
		h.must(err)
		h.same("none any more", h.signIn("bob", "another fine thing", ""), "wrong")
	})
}

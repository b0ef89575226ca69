package hub_test

import (
	"sync"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/auth"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// bearer makes a token for somebody, and returns who shows it and what names it.
func (h *house) bearer(c *hub.Caller, name string) (shown *hub.Caller, id string) {
	h.t.Helper()
	token, err := h.NewPersonToken(h.t.Context(), c, name)
	h.must(err)
	credential, invalid := auth.Parse(token)
	if invalid != nil {
		h.t.Fatal(invalid)
	}
	shown, err = auth.For(h.Hub).Caller(h.t.Context(), credential)
	h.must(err)
	return shown, hub.LoginHash(token)
}

// redeemed is the session that a link begins.
func (h *house) redeemed(link string) (string, error) {
	c, rec, err := auth.For(h.Hub).Link(h.t.Context(), link)
	if err != nil {
		return "", err
	}
	return h.RedeemLink(h.t.Context(), c, rec, hub.Browser{})
}

func TestARevokedTokenEndsWhatWasMadeWithIt(t *testing.T) {
	inHouses(t, func(h *house) {
		bob, own := h.join("bob", hub.RoleMember, "")
		laptop, id := h.bearer(bob, "laptop")
		phone, _ := h.bearer(bob, "phone")
		link := func(c *hub.Caller) string {
			t.Helper()
			made, err := h.NewLogin(t.Context(), c, hub.LoginLink, time.Hour)
			h.must(err)
			return made
		}
		session := func(c *hub.Caller) string {
			t.Helper()
			made, err := h.redeemed(link(c))
			h.must(err)
			return made
		}
		open, began, kept, keptLink := link(laptop), session(laptop), session(phone), link(phone)
		atTheMachine := session(h.ada)
		h.must(h.RevokeToken(t.Context(), bob, id))
		if h.opens(began) {
			t.Error("a session of the revoked token is good")
		}
		_, err := h.redeemed(open)
		h.refused("a link of the revoked token", err, ma2h.CodeUnauthenticated)
		_, err = h.redeemed(link(laptop)) // whoever was let in just before
		h.refused("one more link", err, ma2h.CodeUnauthenticated)
		sessions, _, err := h.Logins(t.Context(), bob)
		h.must(err)
		if len(sessions) != 2 {
			t.Errorf("%d sessions are listed, want the two that are good", len(sessions))
		}
		for what, s := range map[string]string{"their own": own, "another token's": kept, "another person's": atTheMachine} {
			if !h.opens(s) {
				t.Errorf("%s session ended as well", what)
			}
		}
		if _, err := h.redeemed(keptLink); err != nil {
			t.Errorf("the link of another token: %v", err)
		}
	})
}

// A session that began by a link of a token stays one of that token, also when a password is chosen in it.
func TestARevokedTokenEndsASessionInWhichAPasswordWasChosen(t *testing.T) {
	inHouses(t, func(h *house) {
		bob, _ := h.join("bob", hub.RoleMember, "")
		laptop, id := h.bearer(bob, "laptop")
		link, err := h.NewLogin(t.Context(), laptop, hub.LoginLink, time.Hour)
		h.must(err)
		began, err := h.redeemed(link)
		h.must(err)
		inside, _, err := auth.For(h.Hub).Session(t.Context(), began)
		h.must(err)
		goesOn, err := h.SetPassword(t.Context(), inside, hub.NewPassword{New: "four words without sense"})
		h.must(err)
		if !h.opens(goesOn) {
			t.Fatal("the session does not go on")
		}
		h.must(h.RevokeToken(t.Context(), bob, id))
		if h.opens(goesOn) {
			t.Error("the session of a revoked token is good, since a password was chosen in it")
		}
	})
}

func TestNothingIsMadeWithATokenThatIsRevokedAtTheSameTime(t *testing.T) {
	inHouses(t, func(h *house) {
		for range 3 {
			laptop, id := h.bearer(h.ada, "laptop")
			var mu sync.Mutex
			var sessions []string
			var all sync.WaitGroup
			for range 4 { // who stole a token may make links as fast as they can: it is revoked all the same
				all.Go(func() {
					for {
						link, err := h.NewLogin(t.Context(), laptop, hub.LoginLink, time.Hour)
						h.must(err)
						session, err := h.redeemed(link)
						mu.Lock()
						sessions = append(sessions, link, session)
						mu.Unlock()
						if err != nil {
							h.refused("a link", err, ma2h.CodeUnauthenticated)
							return
						}
					}
				})
			}
			all.Go(func() {
				if err := h.RevokeToken(t.Context(), h.ada, id); err != nil {
					t.Error(err)
				}
			})
			all.Wait()
			for _, s := range sessions {
				if s == "" {
					continue
				}
				if _, err := h.redeemed(s); err == nil || h.opens(s) {
					t.Fatal("what was made with the token outlived it")
				}
			}
		}
	})
}

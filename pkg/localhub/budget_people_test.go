package localhub_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/auth"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// guesses is a try at bob's password, which is wrong or has to wait, or is not.
func (s *server) guesses(guess string, wrong bool) func() {
	return func() {
		_, _, err := s.hub.SignIn(s.t.Context(), "bob", guess, hub.Browser{})
		if e := ma2h.AsError(err); (errors.Is(err, hub.ErrWrongPassword) || e != nil) != wrong {
			s.t.Errorf("sign in: %v", err)
		}
	}
}

// visited opens a page in a session.
func (s *server) visited(session string) error {
	visitor, _, err := auth.For(s.hub).Session(s.t.Context(), session)
	if err != nil {
		return err
	}
	return s.hub.Stay(s.t.Context(), visitor)
}

// TestBudget_OfPeople: one read authenticates, and each deed is one Commit with its entry in the audit record.
func TestBudget_OfPeople(t *testing.T) {
	counting(t, 0, func(s *server, c *counted) {
		const password = "stapler under moss"
		ctx := s.t.Context()
		must := func(err error) {
			s.t.Helper()
			if err != nil {
				s.t.Error(err)
			}
		}
		var invited *hub.NewInvitation
		var i *hub.Invitation
		var bob *hub.Caller
		var session string
		for _, o := range []struct {
			operation string
			deed      func()
			want      cost
		}{
			{"inviting", func() {
				var err error
				invited, err = s.hub.Invite(ctx, s.owner, "bob", hub.RoleMember)
				must(err)
			}, cost{3, 2}}, // the name, and the list of what is open
			{"looking at an invitation", func() {
				var err error
				_, token, _ := strings.Cut(invited.URL, "/join/")
				i, err = auth.Invitation(ctx, s.hub, token)
				must(err)
			}, cost{2, 0}}, // it, and who invites
			{"joining with a password", func() {
				var err error
				bob, session, err = s.hub.AcceptInvitation(ctx, i, password, hub.Browser{})
				must(err)
			}, cost{1, 6}}, // a condition costs what a write does
			{"a page's session", func() { must(s.visited(session)) }, cost{1, 0}},
			{"a page's session, a day later", func() {
				now := s.hub.Now
				s.hub.Now = func() time.Time { return now().Add(25 * time.Hour) }
				defer func() { s.hub.Now = now }()
				must(s.visited(session))
			}, cost{1, 1}},
			{"a wrong password", s.guesses("x", true), cost{1, 1}},
			{"the right one", s.guesses(password, false), cost{1, 4}}, // the try, the session, its deed, and no try any more
			{"four more wrong ones", func() {
				for range 5 {
					s.guesses("x", true)()
				}
			}, cost{5, 5}},
			{"one that has to wait", s.guesses(password, true), cost{1, 0}},
			{"the sessions and tokens of a person", func() {
				_, _, err := s.hub.Logins(ctx, bob)
				must(err)
			}, cost{1, 0}},
			{"signing out everywhere", func() { must(s.hub.SignOutEverywhere(ctx, bob)) }, cost{1, 2}},
			{"removing a person", func() { must(s.hub.RemovePerson(ctx, s.owner, bob.Person.Ref)) }, cost{1, 3}},
		} {
			same(s.t, "the cost of "+o.operation, c.spent(o.deed), o.want)
		}
	})
}

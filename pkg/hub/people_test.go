package hub_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/auth"
	"github.com/mash-hub/mash/pkg/dynamostore/dynamotest"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/keyring"
	"github.com/mash-hub/mash/pkg/localhub"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/password"
	"github.com/mash-hub/mash/pkg/record"
)

// house is a hub whose people come and go, at a time that stands still.
type house struct {
	*hub.Hub
	t   *testing.T
	mu  sync.Mutex
	now time.Time
	ada *hub.Caller // the founder
}

// light is what passwords of tests cost.
var light = password.Parameters{MemoryKiB: 64, Time: 1, Lanes: 1}

const good = "stapler under moss"

func inHouses(t *testing.T, test func(h *house)) {
	t.Helper()
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		store, err := localhub.MemoryStore()
		if err != nil {
			t.Fatal(err)
		}
		test(newHouse(t, store))
	})
	if dynamotest.Wanted(t) {
		t.Run("DynamoDB", func(t *testing.T) {
			t.Parallel()
			test(newHouse(t, dynamotest.Store(t)))
		})
	}
}

func newHouse(t *testing.T, store record.Store) *house {
	t.Helper()
	h := &house{t: t, now: time.Date(2026, time.March, 4, 14, 20, 0, 0, time.UTC)}
	settings := hub.DefaultSettings()
	settings.BaseURL, settings.PasswordCost = "https://hub.example", light
	h.Hub = hub.New(store, keyring.Ephemeral(), &caught{}, &localhub.Bell{}, unwound{}, settings)
	h.Now = func() time.Time { h.mu.Lock(); defer h.mu.Unlock(); return h.now }
	var err error
	if h.ada, err = h.EnsureAccount(t.Context(), "ada"); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *house) pass(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(d)
}

// invite returns the token of a fresh invitation.
func (h *house) invite(name string, role hub.Role) string {
	h.t.Helper()
	made, err := h.Invite(h.t.Context(), h.ada, name, role)
	if err != nil {
		h.t.Fatal(err)
	}
	token, ok := strings.CutPrefix(made.URL, "https://hub.example/join/")
	if !ok {
		h.t.Fatalf("the invitation's URL is %s", made.URL)
	}
	return token
}

// accept accepts an invitation, and returns the session.
func (h *house) accept(token, pass string) (*hub.Caller, string, error) {
	i, err := auth.Invitation(h.t.Context(), h.Hub, token)
	if err != nil {
		return nil, "", err
	}
	return h.AcceptInvitation(h.t.Context(), i, pass, hub.Browser{Summary: "a test"})
}

func (h *house) join(name string, role hub.Role, pass string) (*hub.Caller, string) {
	h.t.Helper()
	c, session, err := h.accept(h.invite(name, role), pass)
	if err != nil {
		h.t.Fatal(err)
	}
	return c, session
}

// opens says whether a session or a token is good.
func (h *house) opens(login string) bool {
	h.t.Helper()
	a := auth.For(h.Hub)
	_, _, err := a.Session(h.t.Context(), login)
	if err == nil {
		return true
	}
	credential, invalid := auth.Parse(login)
	if invalid != nil {
		h.t.Fatal(invalid)
	}
	_, err = a.Caller(h.t.Context(), credential)
	if err != nil && ma2h.AsError(err) == nil {
		h.t.Fatal(err)
	}
	return err == nil
}

func (h *house) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// refused holds an error to its code.
func (h *house) refused(what string, err error, code ma2h.Code) {
	h.t.Helper()
	if e := ma2h.AsError(err); e == nil || e.Code != code {
		h.t.Errorf("%s: %v, want %s", what, err, code)
	}
}

func (h *house) names() []string {
	h.t.Helper()
	people, _, err := h.People(h.t.Context(), h.ada)
	h.must(err)
	var names []string
	for _, p := range people {
		names = append(names, p.Name+" "+string(p.Role))
	}
	return names
}

func TestAnInvitationMakesAPersonOnce(t *testing.T) {
	inHouses(t, func(h *house) {
		token := h.invite("bob", hub.RoleMember)
		i, err := auth.Invitation(t.Context(), h.Hub, token)
		h.must(err)
		if i.Name != "bob" || i.By != "human:ada" || i.Role != hub.RoleMember {
			t.Errorf("the invitation is %+v", i)
		}
		if h.opens(token) {
			t.Error("an invitation signs in by itself")
		}
		bob, session, err := h.accept(token, "")
		h.must(err)
		if !h.opens(session) || bob.Actor() != "human:bob" || bob.Account.Ref != h.ada.Account.Ref || bob.Owns() {
			t.Errorf("who joined is %+v", bob.Person)
		}
		_, _, err = h.accept(token, "")
		h.refused("a replayed invitation", err, ma2h.CodeUnauthenticated)
		if _, _, err = h.AcceptInvitation(t.Context(), i, "", hub.Browser{}); err == nil {
			t.Error("an invitation that was opened before it was used is accepted after it")
		}
		if got, want := h.names(), []string{"ada owner", "bob member"}; !slices.Equal(got, want) {
			t.Errorf("people are %v, want %v", got, want)
		}
	})
}

func TestInvitationsEndByTimeRevocationAndTheInvitersRemoval(t *testing.T) {
	inHouses(t, func(h *house) {
		old := h.invite("bob", hub.RoleMember)
		h.pass(hub.InvitationLifetime + time.Second)
		_, _, err := h.accept(old, "")
		h.refused("an old invitation", err, ma2h.CodeUnauthenticated)

		revoked := h.invite("bob", hub.RoleMember)
		_, open, err := h.People(t.Context(), h.ada)
		h.must(err)
		if len(open) != 1 || open[0].Name != "bob" {
			t.Fatalf("open invitations are %+v, want bob's", open)
		}
		h.must(h.Uninvite(t.Context(), h.ada, open[0].ID))
		_, _, err = h.accept(revoked, "")
		h.refused("a revoked invitation", err, ma2h.CodeUnauthenticated)
		h.refused("revoking it again", h.Uninvite(t.Context(), h.ada, open[0].ID), ma2h.CodeNotFound)

		carol, _ := h.join("carol", hub.RoleOwner, "")
		made, err := h.Invite(t.Context(), carol, "dave", hub.RoleOwner)
		h.must(err)
		h.must(h.RemovePerson(t.Context(), h.ada, carol.Person.Ref))
		_, _, err = h.accept(strings.TrimPrefix(made.URL, "https://hub.example/join/"), "")
		h.refused("an invitation of somebody removed", err, ma2h.CodeUnauthenticated)
		h.join("carol", hub.RoleOwner, "")
		_, _, err = h.accept(strings.TrimPrefix(made.URL, "https://hub.example/join/"), "")
		h.refused("the same after they came back", err, ma2h.CodeUnauthenticated)
	})
}

func TestAnInvitationThatNobodyCanAcceptIsNotOpen(t *testing.T) {
	inHouses(t, func(h *house) {
		open := func(what string, want ...string) {
			t.Helper()
			_, all, err := h.People(t.Context(), h.ada)
			h.must(err)
			var names []string
			for _, i := range all {
				names = append(names, i.Name)
			}
			if slices.Sort(names); !slices.Equal(names, want) {
				t.Errorf("open invitations after %s are %v, want %v", what, names, want)
			}
		}
		carol, _ := h.join("carol", hub.RoleOwner, "")
		_, err := h.Invite(t.Context(), carol, "dave", hub.RoleMember)
		h.must(err)
		one := h.invite("bob", hub.RoleMember)
		h.invite("bob", hub.RoleMember)
		h.invite("erin", hub.RoleMember)
		open("inviting", "bob", "bob", "dave", "erin")
		bob, _, err := h.accept(one, "")
		h.must(err)
		open("one of two was accepted", "dave", "erin")
		h.must(h.RemovePerson(t.Context(), h.ada, bob.Person.Ref))
		open("who accepted it was removed", "dave", "erin")
		h.must(h.RemovePerson(t.Context(), h.ada, carol.Person.Ref))
		open("who invited was removed", "erin")
		h.join("carol", hub.RoleOwner, "")
		open("they came back", "erin")
		h.invite("bob", hub.RoleMember)
		open("inviting anew", "bob", "erin")
	})
}

func TestTakenNamesAreRefusedAlike(t *testing.T) {
	inHouses(t, func(h *house) {
		_, err := h.EnsureAccount(t.Context(), "eve")
		h.must(err)
		h.join("bob", hub.RoleMember, "")
		_, here := h.Invite(t.Context(), h.ada, "bob", hub.RoleMember)
		_, elsewhere := h.Invite(t.Context(), h.ada, "eve", hub.RoleMember)
		h.refused("a name taken here", here, ma2h.CodeInvalidField)
		h.refused("a name taken elsewhere", elsewhere, ma2h.CodeInvalidField)
		if here.Error() != elsewhere.Error() {
			t.Errorf("%q tells the accounts apart from %q", here, elsewhere)
		}
		for _, name := range []string{"", "human:x", "with blank", strings.Repeat("x", 201)} {
			_, err := h.Invite(t.Context(), h.ada, name, hub.RoleMember)
			h.refused("the name "+name, err, ma2h.CodeInvalidField)
		}
		_, err = h.Invite(t.Context(), h.ada, "zoe", "king")
		h.refused("an unknown role", err, ma2h.CodeInvalidField)
	})
}

func TestTwoAccountsInviteOneNameAndTheFirstHasIt(t *testing.T) {
	inHouses(t, func(h *house) {
		eve, err := h.EnsureAccount(t.Context(), "eve")
		h.must(err)
		theirs, err := h.Invite(t.Context(), eve, "bob", hub.RoleMember)
		h.must(err)
		h.join("bob", hub.RoleMember, "")
		_, _, err = h.accept(strings.TrimPrefix(theirs.URL, "https://hub.example/join/"), "")
		h.refused("the second", err, ma2h.CodeUnauthenticated)
	})
}

func TestWhoIsRemovedIsOutAtOnceAndComesBackOnlyByAnInvitation(t *testing.T) {
	inHouses(t, func(h *house) {
		bob, session := h.join("bob", hub.RoleMember, good)
		spare := h.invite("carol", hub.RoleMember)
		token, err := h.NewPersonToken(t.Context(), bob, "laptop")
		h.must(err)
		link, err := h.NewLogin(t.Context(), bob, hub.LoginLink, time.Hour)
		h.must(err)
		h.must(h.SetDefaultResolvers(t.Context(), h.ada, []string{"human:bob", "human:ada"}))
		h.must(h.RemovePerson(t.Context(), h.ada, bob.Person.Ref))
		for what, login := range map[string]string{"session": session, "token": token} {
			if h.opens(login) {
				t.Errorf("the %s of somebody removed is good", what)
			}
		}
		if _, _, err := auth.For(h.Hub).Link(t.Context(), link); err == nil {
			t.Error("a link of somebody removed is good")
		}
		if _, _, err := h.SignIn(t.Context(), "bob", good, hub.Browser{}); !errors.Is(err, hub.ErrWrongPassword) {
			t.Errorf("the password of somebody removed: %v", err)
		}
		now, err := h.EnsureAccount(t.Context(), "ada")
		h.must(err)
		if got := now.Account.DefaultResolvers; !slices.Equal(got, []string{"human:ada"}) {
			t.Errorf("default resolvers are %v, want ada alone", got)
		}
		h.refused("removing again", h.RemovePerson(t.Context(), h.ada, bob.Person.Ref), ma2h.CodeNotFound)

		eve, err := h.EnsureAccount(t.Context(), "eve")
		h.must(err)
		_, err = h.Invite(t.Context(), eve, "bob", hub.RoleMember)
		h.refused("another account's invitation", err, ma2h.CodeInvalidField)
		again, fresh := h.join("bob", hub.RoleMember, "")
		if again.Person.Ref != bob.Person.Ref || !h.opens(fresh) {
			t.Errorf("bob came back as %+v", again.Person)
		}
		for what, login := range map[string]string{"session": session, "token": token} {
			if h.opens(login) {
				t.Errorf("the %s of before is good again", what)
			}
		}
		if _, _, err := h.SignIn(t.Context(), "bob", good, hub.Browser{}); !errors.Is(err, hub.ErrWrongPassword) {
			t.Errorf("the password of before: %v", err)
		}
		if _, _, err := h.accept(spare, ""); err != nil {
			t.Errorf("another's invitation ended with bob: %v", err)
		}
	})
}

func TestAnInvitationOfBeforeARemovalIsDead(t *testing.T) {
	inHouses(t, func(h *house) {
		one, two := h.invite("bob", hub.RoleMember), h.invite("bob", hub.RoleMember)
		bob, _, err := h.accept(one, "")
		h.must(err)
		h.must(h.RemovePerson(t.Context(), h.ada, bob.Person.Ref))
		_, _, err = h.accept(two, "")
		h.refused("an invitation of before the removal", err, ma2h.CodeUnauthenticated)
	})
}

func TestTheFounderStaysAndMembersMayNot(t *testing.T) {
	inHouses(t, func(h *house) {
		bob, _ := h.join("bob", hub.RoleMember, "")
		carol, _ := h.join("carol", hub.RoleOwner, "")
		h.refused("removing the founder", h.RemovePerson(t.Context(), carol, h.ada.Person.Ref), ma2h.CodeInvalidField)
		stranger, err := h.EnsureAccount(t.Context(), "eve")
		h.must(err)
		h.refused("removing a stranger", h.RemovePerson(t.Context(), h.ada, stranger.Person.Ref), ma2h.CodeNotFound)
		_, err = h.AddAgent(t.Context(), h.ada, "bot")
		h.must(err)
		for what, err := range map[string]error{
			"remove":   h.RemovePerson(t.Context(), bob, carol.Person.Ref),
			"settings": h.SetDefaultResolvers(t.Context(), bob, nil),
			"opt-in":   h.SetInterAgent(t.Context(), bob, true),
			"list":     h.SetAllowlist(t.Context(), bob, "bot", nil),
			"webhook":  h.SetWebhook(t.Context(), bob, "bot", ""),
			"revoke":   h.RevokeAgent(t.Context(), bob, "bot"),
			"uninvite": h.Uninvite(t.Context(), bob, "x"),
			"add":      func() error { _, err := h.AddAgent(t.Context(), bob, "x"); return err }(),
			"rotate":   func() error { _, err := h.RotateAgent(t.Context(), bob, "bot"); return err }(),
			"invite":   func() error { _, err := h.Invite(t.Context(), bob, "x", hub.RoleMember); return err }(),
		} {
			h.refused("a member's "+what, err, ma2h.CodeNotAuthorized)
		}
		if _, err := h.Agents(t.Context(), bob); err != nil {
			t.Errorf("a member may not see agents: %v", err)
		}
		h.must(h.RemovePerson(t.Context(), carol, bob.Person.Ref))
	})
}

func TestSigningOutEverywhereIsOneCommitAndLeavesTokens(t *testing.T) {
	inHouses(t, func(h *house) {
		bob, one := h.join("bob", hub.RoleMember, "")
		link, err := h.NewLogin(t.Context(), bob, hub.LoginLink, time.Hour)
		h.must(err)
		_, rec, err := auth.For(h.Hub).Link(t.Context(), link)
		h.must(err)
		two, err := h.RedeemLink(t.Context(), bob, rec, hub.Browser{})
		h.must(err)
		token, err := h.NewPersonToken(t.Context(), bob, "laptop")
		h.must(err)
		h.must(h.SignOutEverywhere(t.Context(), bob))
		if h.opens(one) || h.opens(two) || !h.opens(token) {
			t.Errorf("after signing out everywhere: %t %t, token %t", h.opens(one), h.opens(two), h.opens(token))
		}
		sessions, tokens, err := h.Logins(t.Context(), h.callerOf(token))
		h.must(err)
		if len(sessions) != 0 || len(tokens) != 1 || tokens[0].Name != "laptop" {
			t.Errorf("%d sessions, tokens %+v; want none and laptop", len(sessions), tokens)
		}
		h.must(h.RevokeToken(t.Context(), bob, tokens[0].ID))
		if h.opens(token) {
			t.Error("a revoked token is good")
		}
		h.refused("revoking it again", h.RevokeToken(t.Context(), bob, tokens[0].ID), ma2h.CodeNotFound)
	})
}

func (h *house) callerOf(token string) *hub.Caller {
	h.t.Helper()
	credential, invalid := auth.Parse(token)
	if invalid != nil {
		h.t.Fatal(invalid)
	}
	c, err := auth.For(h.Hub).Caller(h.t.Context(), credential)
	h.must(err)
	return c
}

func TestASessionLastsWhileItsPersonComesBy(t *testing.T) {
	inHouses(t, func(h *house) {
		_, session := h.join("bob", hub.RoleMember, "")
		for range 8 {
			h.pass(hub.SessionIdle - 24*time.Hour)
			c, _, err := auth.For(h.Hub).Session(t.Context(), session)
			if err != nil {
				break
			}
			h.must(h.Stay(t.Context(), c))
		}
		if h.opens(session) {
			t.Error("a session outlives SessionMost")
		}
		_, idle := h.join("carol", hub.RoleMember, "")
		h.pass(hub.SessionIdle + time.Second)
		if h.opens(idle) {
			t.Error("a session outlives SessionIdle without a visit")
		}
	})
}

func TestWhoWasSignedOutMeanwhileGetsNoCredential(t *testing.T) {
	inHouses(t, func(h *house) {
		_, session := h.join("bob", hub.RoleMember, "")
		credentials := func(what string, c *hub.Caller, code ma2h.Code) {
			t.Helper()
			_, err := h.NewPersonToken(t.Context(), c, "late")
			h.refused("a token after "+what, err, code)
			_, err = h.SetPassword(t.Context(), c, hub.NewPassword{New: good})
			h.refused("a password after "+what, err, code)
		}
		bob, _, err := auth.For(h.Hub).Session(t.Context(), session)
		h.must(err)
		h.must(h.EndSession(t.Context(), bob, hub.LoginHash(session)))
		credentials("the end of the session", bob, ma2h.CodeUnavailable)
		h.must(h.SignOutEverywhere(t.Context(), bob))
		credentials("signing out everywhere", bob, ma2h.CodeUnauthenticated)
		h.must(h.RemovePerson(t.Context(), h.ada, bob.Person.Ref))
		credentials("the removal", bob, ma2h.CodeUnauthenticated)
	})
}

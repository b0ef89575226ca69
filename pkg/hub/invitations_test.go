package hub_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/auth"
	"github.com/mash-hub/mash/pkg/hub"
)

// patience is how often a list is asked for what was just written.
const patience = 200

func TestOpenInvitationsAreListedBehindAnyNumberOfDeadOnes(t *testing.T) {
	inHouses(t, func(h *house) {
		carol, _ := h.join("carol", hub.RoleOwner, "")
		for n := range 100 {
			_, err := h.Invite(t.Context(), carol, fmt.Sprintf("guest%d", n), hub.RoleMember)
			h.must(err)
		}
		var err error
		for n := 0; err == nil && n < patience; n++ { // a list may lag behind by a moment
			_, err = h.Invite(t.Context(), carol, fmt.Sprintf("onemore%d", n), hub.RoleMember)
		}
		if err == nil || !strings.Contains(err.Error(), "which is the most") {
			t.Errorf("more than a hundred are open: %v", err)
		}
		h.must(h.RemovePerson(t.Context(), h.ada, carol.Person.Ref))
		h.pass(time.Second)
		_, err = h.Invite(t.Context(), h.ada, "dora", hub.RoleMember)
		h.must(err)
		var open []hub.InvitationView
		for n := 0; len(open) != 1 && n < patience; n++ {
			_, open, err = h.People(t.Context(), h.ada)
			h.must(err)
		}
		if len(open) != 1 || open[0].Name != "dora" {
			t.Errorf("open are %+v, want the one of dora", open)
		}
	})
}

func TestAnInvitationIsGoodThoughItsInviterChangesMeanwhile(t *testing.T) {
	inHouses(t, func(h *house) {
		opened := func(name string) *hub.Invitation {
			t.Helper()
			i, err := auth.Invitation(t.Context(), h.Hub, h.invite(name, hub.RoleMember))
			h.must(err)
			return i
		}
		bob, dora := opened("bob"), opened("dora")
		h.must(h.SignOutEverywhere(t.Context(), h.ada))
		c, _, err := h.AcceptInvitation(t.Context(), bob, good, hub.Browser{})
		h.must(err)
		if c.Person.ID != "bob" {
			t.Errorf("%s joined", c.Person.ID)
		}
		_, _, err = h.AcceptInvitation(t.Context(), dora, "", hub.Browser{})
		h.must(err)
		if _, _, err = h.AcceptInvitation(t.Context(), bob, "", hub.Browser{}); err == nil {
			t.Error("an invitation was accepted twice")
		}
	})
}

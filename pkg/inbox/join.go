package inbox

import (
	"net/http"

	"github.com/mash-hub/mash/pkg/auth"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

type joinView struct {
	Token  string
	Name   theirs // of the person to be
	By     theirs
	Owner  bool
	Other  theirs // who is signed in here, when that is somebody
	Wrong  string // of the password
	Person string // as agents name it
}

// invitation shows what an invitation is for, to whoever opens its link. It may be opened, and looked at ahead of time, as
// often as anybody likes: only the button on the page uses it up.
func (v *visit) invitation() error { return v.showInvitation(http.StatusOK, "") }

func (v *visit) showInvitation(status int, wrong string) error {
	v.w.Header().Set("Referrer-Policy", "no-referrer")
	token := v.r.PathValue("token")
	i, err := auth.Invitation(v.r.Context(), v.hub, token)
	if e := ma2h.AsError(err); e != nil && e.Code == ma2h.CodeUnauthenticated {
		return v.deadInvitation()
	}
	if err != nil {
		return err
	}
	view := joinView{
		Token: token, Name: clean(i.Name), By: v.nameOf(i.By), Owner: i.Role == hub.RoleOwner, Wrong: wrong,
		Person: ma2h.HumanPrefix + i.Name,
	}
	if v.caller != nil {
		view.Other = clean(v.caller.Person.ID)
	}
	v.render(status, "join", v.page("join", v.words.plain("join.title"), view))
	return nil
}

// deadInvitation is for whoever comes too late, whatever the reason.
func (v *visit) deadInvitation() error {
	v.say(http.StatusUnauthorized, "join.dead")
	return nil
}

// join makes the visitor a person of the account, and signs them in.
func (v *visit) join() error {
	v.w.Header().Set("Referrer-Policy", "no-referrer")
	ctx := v.r.Context()
	i, err := auth.Invitation(ctx, v.hub, v.r.PathValue("token"))
	var caller *hub.Caller
	var session string
	if err == nil {
		caller, session, err = v.hub.AcceptInvitation(ctx, i, v.r.PostForm.Get("new"), v.browser())
	}
	switch e := ma2h.AsError(err); {
	case e != nil && e.Code == ma2h.CodeUnauthenticated:
		if wait, ok := v.in.doors.take(v.address(), v.hub.Now()); !ok {
			return v.wait(wait)
		}
		return v.deadInvitation()
	case e != nil && e.Code == ma2h.CodeInvalidField:
		return v.showInvitation(e.Status(), e.Message)
	case err != nil:
		return err
	}
	if err := v.enter(caller, session); err != nil {
		return err
	}
	http.Redirect(v.w, v.r, inboxPath+"?joined=1", http.StatusSeeOther)
	return nil
}

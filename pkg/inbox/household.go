package inbox

import (
	"html/template"
	"net/http"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

type peopleView struct {
	People      []personRow
	Invitations []invitationRow
	Invited     *invitedView // what has just been made
	Name        theirs       // as it was typed
	Role        hub.Role
	Wrong       string
}

type personRow struct {
	Ref    string
	Name   theirs
	You    bool
	About  template.HTML
	Remove bool // whether the visitor may
}

type invitationRow struct {
	ID    string
	Name  theirs
	About template.HTML
}

// invitedView is an invitation's link, which is shown once.
type invitedView struct {
	Name theirs
	URL  string
}

// peopleRoutes are the page of the account's people and what it does.
func peopleRoutes() []route {
	return []route{
		{http.MethodGet, "/people", (*visit).people, false},
		{http.MethodPost, "/people/invitations", (*visit).invite, false},
		{http.MethodPost, "/people/invitations/{id}/revoke", (*visit).uninvite, false},
		{http.MethodPost, "/people/{id}/remove", (*visit).removePerson, false},
	}
}

func (v *visit) people() error {
	return v.showPeople(http.StatusOK, func(*peopleView) {})
}

// showPeople shows the page, with what change makes of it.
func (v *visit) showPeople(status int, change func(*peopleView)) error {
	people, invitations, err := v.hub.People(v.r.Context(), v.caller)
	if err != nil {
		return err
	}
	view := peopleView{Role: hub.RoleMember}
	for _, p := range people {
		you := p.Name == v.caller.Person.ID
		view.People = append(view.People, personRow{
			Ref: p.Ref, Name: clean(p.Name), You: you, About: v.about(&p), Remove: v.caller.Owns() && !p.Founder && !you,
		})
	}
	for _, i := range invitations {
		view.Invitations = append(view.Invitations, invitationRow{
			ID: i.ID, Name: clean(i.Name), About: v.words.html("invitation.about", v.role(i.Role), v.clock.ago(i.CreatedAt), v.clock.left(i.ExpiresAt)),
		})
	}
	change(&view)
	p := v.page("people", v.words.plain("people.title"), view)
	if p.Notice, err = v.notice(); err != nil {
		return err
	}
	v.render(status, "people", p)
	return nil
}

func (v *visit) role(r hub.Role) template.HTML { return v.words.html("role." + string(r)) }

// about says what a person is in the account, since when and by whom.
func (v *visit) about(p *hub.PersonView) template.HTML {
	switch {
	case p.Founder:
		return v.words.html("person.founder")
	case p.JoinedAt.IsZero():
		return v.role(p.Role)
	}
	return v.words.html("person.about", v.role(p.Role), v.clock.ago(p.JoinedAt), v.who(p.InvitedBy))
}

// invite makes an invitation and shows its link, once.
func (v *visit) invite() error {
	name, role := v.r.PostForm.Get("name"), hub.Role(v.r.PostForm.Get("role"))
	made, err := v.hub.Invite(v.r.Context(), v.caller, name, role)
	if e := ma2h.AsError(err); e != nil && e.Code == ma2h.CodeInvalidField {
		return v.showPeople(e.Status(), func(view *peopleView) { view.Name, view.Role, view.Wrong = clean(name), role, e.Message })
	}
	if err != nil {
		return err
	}
	return v.showPeople(http.StatusOK, func(view *peopleView) { view.Invited = &invitedView{clean(made.Name), made.URL} })
}

func (v *visit) uninvite() error {
	if err := v.hub.Uninvite(v.r.Context(), v.caller, v.r.PathValue("id")); err != nil {
		return err
	}
	http.Redirect(v.w, v.r, "/people?did=uninvited", http.StatusSeeOther)
	return nil
}

func (v *visit) removePerson() error {
	if err := v.hub.RemovePerson(v.r.Context(), v.caller, v.r.PathValue("id")); err != nil {
		return err
	}
	http.Redirect(v.w, v.r, "/people?did=removed", http.StatusSeeOther)
	return nil
}

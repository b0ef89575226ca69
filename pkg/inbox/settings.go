package inbox

import (
	"html/template"
	"net/http"
	"slices"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

type settingsView struct {
	Person   theirs
	Founder  bool // whom the hub's machine signs in
	Role     template.HTML
	Defaults template.HTML // who may answer what lists nobody, or empty
	Choices  []resolverPick
	Mail     bool // agents may write to each other

	Password passwordView
	Sessions []sessionRow
	Tokens   []tokenRow
	Token    tokenView
}

// resolverPick is somebody whom the default list may name.
type resolverPick struct {
	Actor  string
	Name   template.HTML
	Picked bool
}

// passwordView is the visitor's password, as far as a page may show it.
type passwordView struct {
	Since                   template.HTML // empty without one
	Fresh                   bool          // nothing more need be shown
	WrongCurrent, WrongNext string
}

type sessionRow struct {
	ID, Browser string
	Since, Via  template.HTML
	Here        bool
}

type tokenRow struct {
	ID    string
	Name  theirs
	Since template.HTML
}

// tokenView is a token that has just been made, or what was wrong with its name.
type tokenView struct {
	Token, Wrong string
	Name         theirs
}

// settingsRoutes are the page of settings and what it does.
func settingsRoutes() []route {
	return []route{
		{http.MethodGet, "/settings", (*visit).settings, false},
		{http.MethodPost, "/settings/default-resolvers", (*visit).setDefaultResolvers, false},
		{http.MethodPost, "/settings/inter-agent", (*visit).setInterAgent, false},
		{http.MethodPost, "/settings/password", (*visit).setPassword, false},
		{http.MethodPost, "/settings/sessions/{id}/end", (*visit).endSession, false},
		{http.MethodPost, "/settings/sign-out-everywhere", (*visit).signOutEverywhere, false},
		{http.MethodPost, "/settings/tokens", (*visit).addToken, false},
		{http.MethodPost, "/settings/tokens/{id}/revoke", (*visit).revokeToken, false},
	}
}

func (v *visit) settings() error {
	return v.showSettings(http.StatusOK, func(*settingsView) {})
}

// showSettings shows the page, with what change makes of it.
func (v *visit) showSettings(status int, change func(*settingsView)) error {
	view := settingsView{Person: clean(v.caller.Person.ID), Role: v.words.html("role.member")}
	view.Mail = v.caller.Account.InterAgent
	view.Founder = v.caller.Account.Owner == v.caller.Actor()
	if v.caller.Owns() {
		view.Role = v.words.html("role.owner")
	}
	for _, fill := range []func(*settingsView) error{v.fillDefaults, v.fillPassword, v.fillLogins} {
		if err := fill(&view); err != nil {
			return err
		}
	}
	change(&view)
	p := v.page("settings", v.words.plain("settings.title"), view)
	var err error
	if p.Notice, err = v.notice(); err != nil {
		return err
	}
	v.render(status, "settings", p)
	return nil
}

// fillDefaults says who may answer what lists nobody, and for owners who might.
func (v *visit) fillDefaults(view *settingsView) error {
	var list []template.HTML
	now := v.caller.Account.DefaultResolvers
	for _, r := range now {
		list = append(list, v.who(r))
	}
	if len(list) > 0 {
		view.Defaults = v.words.join(list)
	}
	if !v.caller.Owns() {
		return nil
	}
	may, err := v.mayBeDefault()
	for _, r := range may {
		view.Choices = append(view.Choices, resolverPick{r, v.who(r), slices.Contains(now, r)})
	}
	return err
}

// mayBeDefault are the people of the account, and whoever is on the list already.
func (v *visit) mayBeDefault() ([]string, error) {
	people, _, err := v.hub.People(v.r.Context(), v.caller)
	if err != nil {
		return nil, err
	}
	var may []string
	for _, p := range people {
		may = append(may, ma2h.HumanPrefix+p.Name)
	}
	for _, r := range v.caller.Account.DefaultResolvers {
		if !slices.Contains(may, r) {
			may = append(may, r)
		}
	}
	return may, nil
}

func (v *visit) fillPassword(view *settingsView) error {
	p, err := v.hub.PasswordOf(v.r.Context(), v.caller)
	view.Password.Fresh = p.Fresh
	if !p.SetAt.IsZero() {
		view.Password.Since = v.clock.ago(p.SetAt)
	}
	return err
}

func (v *visit) fillLogins(view *settingsView) error {
	sessions, tokens, err := v.hub.Logins(v.r.Context(), v.caller)
	here := hub.LoginHash(v.cookie)
	for _, s := range sessions {
		row := sessionRow{ID: s.ID, Browser: s.Browser, Since: v.clock.ago(s.CreatedAt), Here: s.ID == here}
		row.Via = v.words.html("session.via." + string(s.Via))
		if s.Via == "" {
			row.Via = v.words.html("session.via.link")
		}
		if row.Browser == "" {
			row.Browser = v.words.plain("session.browser")
		}
		view.Sessions = append(view.Sessions, row)
	}
	slices.SortStableFunc(view.Sessions, func(x, y sessionRow) int {
		switch {
		case x.Here == y.Here:
			return 0
		case x.Here:
			return -1
		}
		return 1
	})
	for _, t := range tokens {
		view.Tokens = append(view.Tokens, tokenRow{t.ID, clean(t.Name).or(v.words.plain("token.unnamed")), v.clock.ago(t.CreatedAt)})
	}
	return err
}

// setDefaultResolvers decides who may answer the asks to come that list nobody (spec §9.1): the visitor or nobody, or those
// who were chosen.
func (v *visit) setDefaultResolvers() error {
	var list []string
	state, form := "off", v.r.PostForm
	switch {
	case form.Get("on") == "1":
		list, state = []string{v.caller.Actor()}, "on"
	case form.Get("choose") == "1":
		may, err := v.mayBeDefault()
		if err != nil {
			return err
		}
		list = slices.DeleteFunc(may, func(r string) bool { return !slices.Contains(form["who"], r) })
		state = "set"
	}
	if err := v.hub.SetDefaultResolvers(v.r.Context(), v.caller, list); err != nil {
		return err
	}
	back := "/settings"
	if form.Get("back") == "inbox" {
		back = inboxPath
	}
	http.Redirect(v.w, v.r, back+"?resolvers="+state, http.StatusSeeOther)
	return nil
}

// setPassword gives the visitor another password, or none. It ends every other session, and this one goes on under a new
// cookie.
func (v *visit) setPassword() error {
	form := v.r.PostForm
	next := form.Get("new")
	if form.Get("do") == "remove" {
		next = ""
	}
	session, err := v.hub.SetPassword(v.r.Context(), v.caller, hub.NewPassword{
		Current: form.Get("current"), New: next, Browser: v.browser(),
	})
	if e := ma2h.AsError(err); e != nil && e.Code == ma2h.CodeInvalidField {
		return v.showSettings(e.Status(), func(view *settingsView) {
			if e.Field == "/current" {
				view.Password.WrongCurrent = e.Message
				return
			}
			view.Password.WrongNext = e.Message
		})
	}
	if err != nil {
		return err
	}
	v.setCookie(sessionCookie, session, hub.SessionMost)
	did := "set"
	if next == "" {
		did = "removed"
	}
	http.Redirect(v.w, v.r, "/settings?password="+did, http.StatusSeeOther)
	return nil
}

// endSession ends one session of the visitor's: this one as signing out does.
func (v *visit) endSession() error {
	id := v.r.PathValue("id")
	if id == hub.LoginHash(v.cookie) {
		return v.signOut()
	}
	if err := v.hub.EndSession(v.r.Context(), v.caller, id); err != nil {
		return err
	}
	http.Redirect(v.w, v.r, "/settings?session=ended", http.StatusSeeOther)
	return nil
}

func (v *visit) signOutEverywhere() error {
	if err := v.hub.SignOutEverywhere(v.r.Context(), v.caller); err != nil {
		return err
	}
	v.setCookie(sessionCookie, "", -1)
	http.Redirect(v.w, v.r, "/signin", http.StatusSeeOther)
	return nil
}

// addToken makes a token and shows it, once.
func (v *visit) addToken() error {
	name := v.r.PostForm.Get("name")
	token, err := v.hub.NewPersonToken(v.r.Context(), v.caller, name)
	if e := ma2h.AsError(err); e != nil && e.Code == ma2h.CodeInvalidField {
		return v.showSettings(e.Status(), func(view *settingsView) {
			view.Token = tokenView{Wrong: e.Message, Name: clean(name)}
		})
	}
	if err != nil {
		return err
	}
	return v.showSettings(http.StatusOK, func(view *settingsView) { view.Token = tokenView{Token: token, Name: clean(name)} })
}

func (v *visit) revokeToken() error {
	if err := v.hub.RevokeToken(v.r.Context(), v.caller, v.r.PathValue("id")); err != nil {
		return err
	}
	http.Redirect(v.w, v.r, "/settings?token=revoked", http.StatusSeeOther)
	return nil
}

package inbox

import (
	"html/template"
	"net/http"
)

type settingsView struct {
	Person   theirs
	Defaults template.HTML // who may answer what lists nobody, or empty
}

// settingsRoutes are the page of settings and what it does.
func settingsRoutes() []route {
	return []route{
		{http.MethodGet, "/settings", (*visit).settings, false},
		{http.MethodPost, "/settings/default-resolvers", (*visit).setDefaultResolvers, false},
	}
}

func (v *visit) settings() error {
	view := settingsView{Person: clean(v.caller.Person.ID)}
	var list []template.HTML
	for _, r := range v.caller.Account.DefaultResolvers {
		list = append(list, v.who(r))
	}
	if len(list) > 0 {
		view.Defaults = v.words.join(list)
	}
	p := v.page("settings", v.words.plain("settings.title"), view)
	var err error
	if p.Notice, err = v.notice(); err != nil {
		return err
	}
	v.render(http.StatusOK, "settings", p)
	return nil
}

// setDefaultResolvers decides whether the visitor may answer the asks to come that list nobody (spec §9.1).
func (v *visit) setDefaultResolvers() error {
	var list []string
	state := "off"
	if v.r.PostForm.Get("on") == "1" {
		list, state = []string{v.caller.Actor()}, "on"
	}
	if err := v.hub.SetDefaultResolvers(v.r.Context(), v.caller, list); err != nil {
		return err
	}
	back := "/settings"
	if v.r.PostForm.Get("back") == "inbox" {
		back = "/inbox"
	}
	http.Redirect(v.w, v.r, back+"?resolvers="+state, http.StatusSeeOther)
	return nil
}

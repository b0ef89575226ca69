package inbox

import (
	"errors"
	"html/template"
	"net/http"
	"regexp"
	"strings"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// doorRoutes are the ways in and out.
func doorRoutes() []route {
	return []route{
		{http.MethodGet, "/in/{token}", (*visit).link, true},
		{http.MethodGet, "/join/{token}", (*visit).invitation, true},
		{http.MethodPost, "/join/{token}", (*visit).join, true},
		{http.MethodGet, "/signin", (*visit).signIn, true},
		{http.MethodPost, "/signin", (*visit).signInByPassword, true},
		{http.MethodPost, "/signout", (*visit).signOut, false},
	}
}

// link signs in whoever opens a link, once, and shows where it leads in the same answer, so that whoever fetches it sees
// that it works. A look at it by HEAD, or ahead of time by a browser that guesses, does not use it up.
func (v *visit) link() error {
	v.w.Header().Set("Referrer-Policy", "no-referrer")
	if strings.Contains(v.r.Header.Get("Sec-Purpose"), "prefetch") {
		v.w.WriteHeader(http.StatusNoContent)
		return nil
	}
	ctx := v.r.Context()
	caller, link, err := v.authenticator().Link(ctx, v.r.PathValue("token"))
	if err == nil && v.r.Method == http.MethodHead {
		v.w.WriteHeader(http.StatusOK)
		return nil
	}
	var session string
	if err == nil {
		session, err = v.hub.RedeemLink(ctx, caller, link, v.browser())
	}
	if e := ma2h.AsError(err); e != nil && e.Code == ma2h.CodeUnauthenticated {
		return v.usedLink()
	}
	if err != nil {
		return err
	}
	if err := v.enter(caller, session); err != nil {
		return err
	}
	if id, ok := messageOf(v.next()); ok {
		v.r.SetPathValue("id", id)
		return v.message()
	}
	return v.list()
}

// usedLink leads on whoever is signed in anyway, and tells everybody else how to get another link.
func (v *visit) usedLink() error {
	if v.caller != nil {
		http.Redirect(v.w, v.r, v.next(), http.StatusSeeOther)
		return nil
	}
	v.unknown("signin.used")
	return nil
}

// next is where a link leads: the inbox or one message of it, never anywhere else.
func (v *visit) next() string {
	next := v.r.URL.Query().Get("next")
	if _, ok := messageOf(next); ok {
		return next
	}
	return inboxPath
}

// inboxPath is where everything begins.
const inboxPath = "/inbox"

var messagePath = regexp.MustCompile(`^/inbox/(msg_[0-9a-z]+)$`)

// messageOf returns the id of the message whose page a path is.
func messageOf(path string) (string, bool) {
	m := messagePath.FindStringSubmatch(path)
	if m == nil {
		return "", false
	}
	return m[1], true
}

// enter makes the visitor the person of a new session. Whoever was signed in here before is signed out.
func (v *visit) enter(caller *hub.Caller, session string) error {
	if v.caller != nil {
		if err := v.hub.SignOut(v.r.Context(), v.caller); err != nil {
			return err
		}
	}
	if v.caller != nil && v.caller.Person.Ref != caller.Person.Ref {
		v.before = v.caller.Person.ID
	}
	v.caller, v.cookie = caller, session
	v.setCookie(sessionCookie, session, hub.SessionMost)
	v.setCookie(browserCookie, v.hub.BrowserMark(caller), browserKept)
	return nil
}

// signOut ends the session, here and in the store.
func (v *visit) signOut() error {
	if err := v.hub.SignOut(v.r.Context(), v.caller); err != nil {
		return err
	}
	v.setCookie(sessionCookie, "", -1)
	http.Redirect(v.w, v.r, "/signin", http.StatusSeeOther)
	return nil
}

type signInView struct {
	Why   template.HTML // what there is to say first
	Name  theirs        // as it was typed
	Wrong template.HTML // what was wrong with name and password
	Wait  template.HTML // when a password is taken again
	Next  string        // where it leads, when that is the page of a message
}

// signIn says how to come in.
func (v *visit) signIn() error {
	v.showSignIn(http.StatusOK, signInView{Why: v.words.html("signin.how"), Next: v.next()})
	return nil
}

func (v *visit) showSignIn(status int, view signInView) {
	if view.Next == inboxPath {
		view.Next = ""
	}
	v.render(status, "signin", v.page("signin", v.words.plain("signin.title"), view))
}

// unknown is the page for somebody who would have to be signed in.
func (v *visit) unknown(why string) {
	v.w.Header().Set("WWW-Authenticate", "Mash-Link")
	v.caller = nil
	view := signInView{Why: v.words.html(why), Next: v.next()}
	if _, ok := messageOf(v.r.URL.Path); ok && v.r.Method == http.MethodGet {
		view.Next = v.r.URL.Path
	}
	v.showSignIn(http.StatusUnauthorized, view)
}

// signInByPassword signs in whoever knows a name and its password. A name that nobody has and a wrong password get the
// same page.
func (v *visit) signInByPassword() error {
	form := v.r.PostForm
	view := signInView{Why: v.words.html("signin.how"), Name: clean(form.Get("name")), Next: inboxPath}
	if _, ok := messageOf(form.Get("next")); ok {
		view.Next = form.Get("next")
	}
	name := strings.TrimSpace(form.Get("name"))
	if !v.hub.KnowsBrowser(name, v.browser()) { // whose tries the hub bounds by themselves
		if wait, ok := v.in.doors.take(v.address(), v.hub.Now()); !ok {
			return v.wait(wait)
		}
	}
	caller, session, err := v.hub.SignIn(v.r.Context(), name, form.Get("password"), v.browser())
	if errors.Is(err, hub.ErrWrongPassword) {
		view.Wrong = v.words.html("signin.wrong")
		v.showSignIn(http.StatusUnauthorized, view)
		return nil
	}
	if err != nil {
		return err
	}
	if err := v.enter(caller, session); err != nil {
		return err
	}
	http.Redirect(v.w, v.r, view.Next, http.StatusSeeOther)
	return nil
}

package inbox

import (
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// doorRoutes are the ways in and out.
func doorRoutes() []route {
	return []route{
		{http.MethodGet, "/in/{token}", (*visit).link, true},
		{http.MethodGet, "/signin", (*visit).signIn, true},
		{http.MethodPost, "/signout", (*visit).signOut, false},
	}
}

// sessionCookie names the cookie that says who visits, after the port at which the browser reached us. Cookies do not know
// ports (RFC 6265 §8.5): under one name, two hubs on a machine would sign each other's people out.
func sessionCookie(r *http.Request) string {
	const name = "mash_session"
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		return name // without a port, that of the scheme
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return name // no browser sends that
	}
	return name + "_" + port
}

// ours says whether a POST was sent by a page of ours that this very session was shown: it carries the session's token,
// and the browser, where it tells, does not say that it came from elsewhere. The token is what counts. The origin is null
// on the page of a link, which sends no referrer, and browsers tell nothing more over plain http between machines.
func (v *visit) ours() bool {
	token := v.r.PostForm.Get("csrf")
	if v.caller == nil || subtle.ConstantTimeCompare([]byte(token), []byte(v.csrf())) != 1 {
		return false
	}
	if site := v.r.Header.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin"
	}
	origin := v.r.Header.Get("Origin")
	if origin == "" || origin == "null" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && strings.EqualFold(u.Host, v.r.Host)
}

// csrf is the token of the session: whoever does not know the cookie cannot know it, nor the cookie from it.
func (v *visit) csrf() string {
	if v.caller == nil {
		return ""
	}
	sum := v.hub.Keys.Hash("csrf", v.cookie)
	return hex.EncodeToString(sum[:])
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
		session, err = v.hub.RedeemLink(ctx, caller, link, hub.Browser{})
	}
	if e := ma2h.AsError(err); e != nil && e.Code == ma2h.CodeUnauthenticated {
		return v.usedLink()
	}
	if err != nil {
		return err
	}
	v.caller, v.cookie = caller, session
	v.setCookie(session, int(SessionLifetime.Seconds()))
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
	return "/inbox"
}

var messagePath = regexp.MustCompile(`^/inbox/(msg_[0-9a-z]+)$`)

// messageOf returns the id of the message whose page a path is.
func messageOf(path string) (string, bool) {
	m := messagePath.FindStringSubmatch(path)
	if m == nil {
		return "", false
	}
	return m[1], true
}

func (v *visit) setCookie(value string, seconds int) {
	http.SetCookie(v.w, &http.Cookie{ //nolint:gosec // Secure is the wiring's to know
		Name: sessionCookie(v.r), Value: value, Path: "/", MaxAge: seconds,
		HttpOnly: true, Secure: v.in.config.Secure, SameSite: http.SameSiteLaxMode,
	})
}

// signOut ends the session, here and in the store.
func (v *visit) signOut() error {
	_, session, err := v.authenticator().Session(v.r.Context(), v.cookie)
	if err == nil {
		err = v.hub.SignOut(v.r.Context(), v.caller, session)
	}
	if err != nil && ma2h.AsError(err) == nil {
		return err
	}
	v.setCookie("", -1)
	http.Redirect(v.w, v.r, "/signin", http.StatusSeeOther)
	return nil
}

// signIn says how to get a link.
func (v *visit) signIn() error {
	v.render(http.StatusOK, "signin", v.page("signin", v.words.plain("signin.title"), signInView{Why: "signin.how"}))
	return nil
}

// unknown is the page for somebody who would have to be signed in.
func (v *visit) unknown(why string) {
	v.w.Header().Set("WWW-Authenticate", "Mash-Link")
	v.caller = nil
	v.render(http.StatusUnauthorized, "signin", v.page("signin", v.words.plain("signin.title"), signInView{Why: why}))
}

type signInView struct{ Why string }

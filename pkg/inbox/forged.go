package inbox

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"net/url"
	"strings"
)

// errForged is why a POST was not taken to come from a page of ours.
var errForged = errors.New("inbox: no token of this session")

// ours says whether a POST was sent by a page of ours that this very session was shown: it carries the session's token,
// and the browser, where it tells, does not say that it came from elsewhere. The token is what counts. The origin is null
// on the page of a link, which sends no referrer, and browsers tell nothing more over plain http between machines. A form
// for those who are not signed in carries the token of its browser.
func (v *visit) ours(open bool) bool {
	token := v.r.PostForm.Get("csrf")
	good := v.caller != nil && sameToken(token, v.seal("csrf", v.cookie))
	if nonce := v.readCookie(formCookie); open && nonce != "" {
		good = sameToken(token, v.seal("form", nonce)) || good
	}
	return good && v.fromHere()
}

func sameToken(got, want string) bool {
	return subtle.ConstantTimeCompare([]byte(got), []byte(want)) == 1
}

// fromHere says whether the browser does not tell that a page of somebody else's sent the request.
func (v *visit) fromHere() bool {
	if site := v.r.Header.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin"
	}
	origin := v.r.Header.Get("Origin")
	if origin == "" || origin == "null" {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil {
		return false
	}
	public, err := url.Parse(v.hub.Settings.BaseURL) // which a proxy may not hand on as the Host
	return strings.EqualFold(u.Host, v.r.Host) || err == nil && public.Host != "" && strings.EqualFold(u.Host, public.Host)
}

// csrf is the token of the session: whoever does not know the cookie cannot know it, nor the cookie from it.
func (v *visit) csrf() string {
	if v.caller == nil {
		return ""
	}
	return v.seal("csrf", v.cookie)
}

// openCSRF is the token of a form that is open to those who are not signed in.
func (v *visit) openCSRF() string {
	if v.caller != nil {
		return v.csrf()
	}
	nonce := v.readCookie(formCookie)
	if nonce == "" {
		nonce = rand.Text()
		v.setCookie(formCookie, nonce, 0)
	}
	return v.seal("form", nonce)
}

func (v *visit) seal(purpose, secret string) string {
	sum := v.hub.Keys.Hash(purpose, secret)
	return hex.EncodeToString(sum[:])
}

package inbox

import (
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
)

// The cookies, each under a name that cookieName makes of its own.
const (
	sessionCookie = "mash_session" // who visits
	browserCookie = "mash_browser" // that the person was signed in here before, which outlives the session
	formCookie    = "mash_form"    // binds a form to the browser of somebody who is not signed in
)

// browserKept is how long a browser is known after somebody signed in.
const browserKept = 400 * 24 * time.Hour

// cookieName names a cookie after the port at which the browser reached us: cookies do not know ports (RFC 6265 §8.5), and
// under one name two hubs on a machine would sign each other's people out. Over https the name says that nobody else could
// have set it, a neighbour under the same domain or plain http: __Host-, or __Secure- where the pages are but a part of what
// the host serves.
func (v *visit) cookieName(kind string) string {
	name := kind
	if v.in.config.Secure {
		name = "__Host-" + kind
		if v.in.config.Base != "" {
			name = "__Secure-" + kind
		}
	}
	_, port, err := net.SplitHostPort(v.r.Host)
	if err != nil {
		return name // without a port, that of the scheme
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return name // no browser sends that
	}
	return name + "_" + port
}

// setCookie keeps a value for a while, until the browser is closed (0), or no longer (less).
func (v *visit) setCookie(kind, value string, kept time.Duration) {
	age := int(kept.Seconds())
	if kept < 0 {
		age = -1
	}
	http.SetCookie(v.w, &http.Cookie{ //nolint:gosec // Secure is the wiring's to know
		Name: v.cookieName(kind), Value: value, Path: v.in.config.Base + "/", MaxAge: age,
		HttpOnly: true, Secure: v.in.config.Secure, SameSite: http.SameSiteLaxMode,
	})
}

// readCookie returns the value of a cookie, or "".
func (v *visit) readCookie(kind string) string {
	c, err := v.r.Cookie(v.cookieName(kind))
	if err != nil {
		return ""
	}
	return c.Value
}

// browser is what is known of the visitor's browser.
func (v *visit) browser() hub.Browser {
	return hub.Browser{Summary: summarise(v.r.UserAgent()), Mark: v.readCookie(browserCookie)}
}

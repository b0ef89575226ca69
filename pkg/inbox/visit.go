package inbox

import (
	"cmp"
	"context"
	"errors"
	"html/template"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/mash-hub/mash/pkg/auth"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// visit is one request on its way to a page.
type visit struct {
	in    *Inbox
	hub   *hub.Hub
	w     http.ResponseWriter
	r     *http.Request
	clock clock
	words catalogue

	cookie string      // of the session, or empty
	caller *hub.Caller // nil for somebody who is not signed in
	before string      // who was signed in here until a link signed somebody else in, or empty

	strangers []string // resolvers that are nobody of the account, as far as meet was asked
}

// maxForm is how many bytes of a form are read. An answer of the largest size fits into it however it is encoded.
const maxForm = 1 << 20

// formTimeout is how long a form may take to arrive.
const formTimeout = 30 * time.Second

// serve finds out who visits, guards what acts, and writes whatever error comes of it.
func (in *Inbox) serve(w http.ResponseWriter, r *http.Request, rt route) {
	setHeaders(w.Header())
	in.stayOnHTTPS(w.Header(), r)
	if in.config.Base != "" {
		w = basedWriter{w, in.config.Base}
	}
	v := &visit{in: in, w: w, r: r, words: in.words}
	if err := v.run(rt); err != nil {
		v.fail(err)
	}
}

func (v *visit) run(rt route) error {
	h, err := v.in.config.Hub(v.r)
	if err != nil {
		return err
	}
	v.hub = h
	v.clock = clock{now: h.Now(), words: v.words}
	var form error // before anybody is recognised: a form may take its time, and its sender be signed out meanwhile
	if rt.method == http.MethodPost {
		form = v.readForm()
	}
	if err := v.recognise(); err != nil {
		return err
	}
	if v.caller == nil && !rt.open {
		return ma2h.Errorf(ma2h.CodeUnauthenticated, "Sign in first.")
	}
	if rt.method == http.MethodPost {
		if err := cmp.Or(form, v.checkForm(rt.open)); err != nil {
			return err
		}
	}
	return rt.handle(v)
}

// recognise finds the person of the session's cookie, bringing the message that the path names along. A cookie that is
// not good any more is as good as none.
func (v *visit) recognise() error {
	cookie := v.readCookie(sessionCookie)
	if cookie == "" {
		return nil
	}
	caller, _, err := v.authenticator().Session(v.r.Context(), cookie, v.hub.MessageKeys(v.r.PathValue("id"))...)
	if ma2h.AsError(err) != nil {
		return nil
	}
	if err != nil {
		return err
	}
	v.caller, v.cookie = caller, cookie
	if v.r.Method == http.MethodGet {
		return v.hub.Stay(v.r.Context(), caller)
	}
	return nil
}

func (v *visit) authenticator() auth.Authenticator {
	return auth.Authenticator{Store: v.hub.Store, Now: v.hub.Now}
}

// readForm reads what was sent, for formTimeout at most.
func (v *visit) readForm() error {
	deadline := http.NewResponseController(v.w)
	_ = deadline.SetReadDeadline(time.Now().Add(formTimeout)) // not every connection has one
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, maxForm)
	err := v.r.ParseForm()
	if err == nil {
		_ = deadline.SetReadDeadline(time.Time{})
		return nil
	}
	// What did not come in time is not waited for again: net/http would read on before it sends the answer.
	_ = deadline.SetReadDeadline(time.Now())
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return ma2h.Errorf(ma2h.CodeTooLarge, "The answer is too long.")
	}
	return ma2h.Errorf(ma2h.CodeValidationError, "The form did not arrive whole.")
}

// checkForm takes what a page of ours sent, and nothing else.
func (v *visit) checkForm(open bool) error {
	if !v.ours(open) {
		return errForged
	}
	for _, values := range v.r.PostForm {
		for _, s := range values {
			if !utf8.ValidString(s) {
				return ma2h.Errorf(ma2h.CodeValidationError, "The form is not in UTF-8.")
			}
		}
	}
	return nil
}

// fail writes the page of an error: the one place where inbox decides on an error's status, from ma2h's table.
func (v *visit) fail(err error) {
	if errors.Is(err, errForged) {
		v.say(http.StatusForbidden, "forged")
		return
	}
	e := ma2h.AsError(err)
	if e == nil {
		e = v.internal(err)
	}
	switch e.Code {
	case ma2h.CodeUnauthenticated:
		v.unknown("signin.first")
	case ma2h.CodeUnavailable, ma2h.CodeRateLimited:
		v.later(e)
	case ma2h.CodeNotAuthorized:
		v.say(e.Status(), "not_authorized")
	case ma2h.CodeNotFound, ma2h.CodeGone, ma2h.CodeMethodNotAllowed, ma2h.CodeTooLarge:
		v.say(e.Status(), string(e.Code))
	case ma2h.CodeInternalError:
		v.say(e.Status(), "internal_error")
	default:
		v.say(e.Status(), "refused")
	}
}

// later says to come back. Whoever knows when to, knows what is amiss, and then the page says that.
func (v *visit) later(e *ma2h.Error) {
	if e.Code == ma2h.CodeRateLimited {
		v.tooSoon(e.RetryAfter)
		return
	}
	v.w.Header().Set("Retry-After", strconv.Itoa(max(int((e.RetryAfter+time.Second-1)/time.Second), 1)))
	if e.RetryAfter <= 0 {
		v.say(e.Status(), string(e.Code))
		return
	}
	text := template.HTML(template.HTMLEscapeString(e.Message)) //nolint:gosec // escaped
	v.render(e.Status(), "plain", v.page("", v.words.plain("later.title"),
		plainView{Heading: v.words.html("later.title"), Text: text}))
}

// wait is the error of whoever has to.
func (v *visit) wait(d time.Duration) error {
	return &ma2h.Error{Code: ma2h.CodeRateLimited, RetryAfter: d, Message: "Too many tries."}
}

// tooSoon says when a password may be tried again, and what works at once.
func (v *visit) tooSoon(d time.Duration) {
	d = max(d.Round(time.Second), time.Second)
	v.w.Header().Set("Retry-After", strconv.Itoa(int(d/time.Second)))
	v.render(http.StatusTooManyRequests, "signin", v.page("signin", v.words.plain("later.title"), signInView{
		Why: v.words.html("signin.wait"), Wait: v.words.html("signin.wait.text", v.clock.span(d)),
	}))
}

// internal hides an error of ours: in full in the log, once, and a plain sentence on the page.
func (v *visit) internal(err error) *ma2h.Error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return ma2h.Errorf(ma2h.CodeUnavailable, "The request was given up.")
	}
	v.in.config.Log.ErrorContext(v.r.Context(), "page failed", "method", v.r.Method, "pattern", v.r.Pattern, "err", err)
	return ma2h.Errorf(ma2h.CodeInternalError, "The page failed.")
}

func (v *visit) otherMethod() error {
	return ma2h.Errorf(ma2h.CodeMethodNotAllowed, "This path takes another method.")
}

func (v *visit) nowhere() error {
	return ma2h.Errorf(ma2h.CodeNotFound, "There is nothing at this path.")
}

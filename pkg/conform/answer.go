package conform

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// doc is a JSON object that a clause writes.
type doc map[string]any

// answer is one exchange with the hub.
type answer struct {
	t      *trial
	sent   string // method, path, who and body
	status int
	header http.Header
	body   []byte
}

// send makes a request as somebody; body nil is none, a string as it is, anything else JSON.
func (t *trial) send(who *caller, method, path string, body any) *answer {
	a, err := t.try(who, method, path, body)
	if err != nil {
		t.fail("an answer, and got the error: %v", err)
	}
	t.mu.Lock()
	t.last = a
	t.mu.Unlock()
	return a
}

// try is send for other goroutines than the trial's own.
func (t *trial) try(who *caller, method, path string, body any) (*answer, error) {
	var encoded []byte
	switch b := body.(type) {
	case nil:
	case string:
		encoded = []byte(b)
	default:
		var err error
		if encoded, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	r, err := http.NewRequestWithContext(t.ctx, method, t.home.url()+path, bytes.NewReader(encoded))
	if err != nil {
		return nil, err
	}
	for name, values := range t.home.header() {
		r.Header[name] = values
	}
	r.Header.Set("Accept", "application/json")
	if encoded != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if who != nil {
		r.Header.Set("Authorization", "Bearer "+who.token)
	}
	resp, err := t.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	a := &answer{t: t, sent: sent(who, method, path, encoded), status: resp.StatusCode, header: resp.Header}
	a.body, err = io.ReadAll(io.LimitReader(resp.Body, 16<<20))
	return a, err
}

func sent(who *caller, method, path string, body []byte) string {
	s := method + " " + path
	if who != nil {
		s += " as " + who.actor
	}
	if len(body) > 0 {
		s += " " + string(body)
	}
	return s
}

func (a *answer) came() string { return strings.TrimSpace(fmt.Sprintf("%d %s", a.status, a.body)) }

// is wants a status.
func (a *answer) is(status int, want string, args ...any) *answer {
	a.t.hold(a.status == status, "%d: "+want, append([]any{status}, args...)...)
	return a
}

// refused wants an error of this status and one of these codes, in its envelope.
func (a *answer) refused(status int, want string, codes ...ma2h.Code) *answer {
	a.is(status, "%s", want)
	a.shaped(ma2h.KindError, ma2h.Newest)
	code := a.str("/error/code")
	for _, c := range codes {
		if code == string(c) {
			return a
		}
	}
	a.t.hold(len(codes) == 0, "the error code %v: %s", codes, want)
	return a
}

// hides wants an answer as of something that is not there: 404, or 403 where the text lets a hub choose.
func (a *answer) hides(want string) *answer {
	a.t.hold(a.status == http.StatusNotFound || a.status == http.StatusForbidden, "404 or 403: %s", want)
	a.shaped(ma2h.KindError, ma2h.Newest)
	return a
}

// sameAs wants this answer to be the other, letter by letter, but for the ids that the requests named.
func (a *answer) sameAs(other *answer, mine, theirs, want string) {
	same := a.status == other.status && strings.ReplaceAll(string(a.body), mine, theirs) == string(other.body)
	a.t.hold(same, "the same answer as %s: %s", other.came(), want)
}

// shaped wants the body to be of this kind by the schema of a version.
func (a *answer) shaped(kind ma2h.Kind, version string) *answer {
	if err := validate(kind, version, a.body); err != nil {
		a.t.fail("a body of the schema %s: %v", kind, err)
	}
	return a
}

// json is the body, decoded.
func (a *answer) json() any {
	d, err := ma2h.Parse(a.body)
	if err != nil {
		a.t.fail("a body of JSON: %v", err)
	}
	return d.Value
}

// at is a member of the body by its JSON Pointer, nil where there is none.
func (a *answer) at(pointer string) any { return lookUp(a.json(), pointer) }

// str is a member that is a string, empty where there is none.
func (a *answer) str(pointer string) string {
	s, _ := a.at(pointer).(string)
	return s
}

// shows wants a member to be this string.
func (a *answer) shows(pointer, value, want string) *answer {
	a.t.hold(a.str(pointer) == value, "%s %q: %s", pointer, value, want)
	return a
}

func lookUp(v any, pointer string) any {
	for _, token := range ma2h.Tokens(pointer) {
		switch in := v.(type) {
		case map[string]any:
			v = in[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}

// decode reads the body into v.
func (a *answer) decode(v any) {
	if err := json.Unmarshal(a.body, v); err != nil {
		a.t.fail("a body that can be read: %v", err)
	}
}

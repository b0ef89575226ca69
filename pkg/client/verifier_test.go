package client_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/signature"
)

const (
	pushURL    = "https://agent.example/ma2h"
	pushSecret = "mashs_a-secret-of-the-tests-and-nobody-else"
	pushBody   = `{"ma2h_version":"0.6","in_reply_to":"msg_1","resolution_id":"res_1","agent":{"id":"ci/build","run_id":"r"},"resolution":"answered","response":{"value":"approve","actor":"human:ada","resolved_at":"2026-03-01T10:00:00Z"},"defaulted":true,"state":{"n":1}}`
)

var pushTime = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

func newVerifier() *client.Verifier {
	return &client.Verifier{Secrets: []string{pushSecret}, URL: pushURL, Now: func() time.Time { return pushTime }}
}

func signed(t *testing.T, body string, key signature.Signer, at time.Time) string {
	t.Helper()
	ctx, err := signature.Response([]byte(body), pushURL)
	if err != nil {
		t.Fatal(err)
	}
	header, err := ctx.Sign(key, at, ma2h.NewID(ma2h.PrefixNonce))
	if err != nil {
		t.Fatal(err)
	}
	return header
}

func pushRequest(body, header string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/ma2h", strings.NewReader(body))
	if header != "" {
		r.Header.Set(signature.HeaderName, header)
	}
	return r
}

func TestAPushThatVerifiesIsReturned(t *testing.T) {
	t.Parallel()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	v := newVerifier()
	v.Secrets = []string{"", "the-new-one-during-a-rotation-of-keys", pushSecret}
	v.PublicKeys = []ed25519.PublicKey{public}
	for _, key := range []signature.Signer{signature.HMAC(pushSecret), signature.HMAC(v.Secrets[1]), signature.PrivateKey(private)} {
		r, err := v.Verify(pushRequest(pushBody, signed(t, pushBody, key, pushTime)))
		if err != nil {
			t.Fatalf("Verify under %T = %v", key, err)
		}
		if value, ok := client.Choice(r); !ok || value != "approve" || r.InReplyTo != "msg_1" || string(r.State) != `{"n":1}` {
			t.Errorf("Verify = %+v", r)
		}
		if r.Defaulted {
			t.Error("Defaulted was taken from the unsigned flag; a person answered")
		}
	}
}

func TestAnExpiryDefaultIsToldByTheSignedActor(t *testing.T) {
	t.Parallel()
	body := strings.NewReplacer("human:ada", ma2h.ActorDefaultOnExpire, `"answered"`, `"expired"`, `"defaulted":true`, `"defaulted":false`).Replace(pushBody)
	r, err := newVerifier().Verify(pushRequest(body, signed(t, body, signature.HMAC(pushSecret), pushTime)))
	if err != nil || !r.Defaulted {
		t.Errorf("Verify = %+v, %v, want defaulted", r, err)
	}
}

func TestAPushThatDoesNotVerifyIsRefused(t *testing.T) {
	t.Parallel()
	key := signature.HMAC(pushSecret)
	good := signed(t, pushBody, key, pushTime)
	double := pushRequest(pushBody, good)
	double.Header.Add(signature.HeaderName, good)
	get := httptest.NewRequest(http.MethodGet, "/ma2h", nil)
	get.Header.Set(signature.HeaderName, good)
	flipped := strings.Replace(pushBody, "approve", "deny", 1)
	for name, c := range map[string]struct {
		r      *http.Request
		want   error
		status int
	}{
		"no signature":    {pushRequest(pushBody, ""), signature.ErrMalformed, 401},
		"two signatures":  {double, signature.ErrMalformed, 401},
		"a malformed one": {pushRequest(pushBody, "t=1,jti=2,v1=3"), signature.ErrMalformed, 401},
		"another answer":  {pushRequest(flipped, good), signature.ErrMismatch, 401},
		"another key":     {pushRequest(pushBody, signed(t, pushBody, signature.HMAC("x"), pushTime)), signature.ErrMismatch, 401},
		"too old":         {pushRequest(pushBody, signed(t, pushBody, key, pushTime.Add(-121*time.Second))), signature.ErrWindow, 401},
		"ahead":           {pushRequest(pushBody, signed(t, pushBody, key, pushTime.Add(121*time.Second))), signature.ErrWindow, 401},
		"a doubled name":  {pushRequest(strings.Replace(pushBody, `"state"`, `"resolution":"answered","state"`, 1), good), nil, 401},
		"no JSON":         {pushRequest("approve", good), nil, 401},
		"nothing":         {pushRequest("", good), nil, 401},
		"far too much":    {pushRequest(strings.Repeat(" ", client.MaxPush)+pushBody, good), client.ErrTooLarge, 413},
		"a GET":           {get, nil, 405},
	} {
		v := newVerifier()
		body := new(bytes.Buffer)
		_, _ = body.ReadFrom(c.r.Body)
		again := c.r.Clone(t.Context())
		c.r.Body, again.Body = http.NoBody, http.NoBody
		if body.Len() > 0 {
			c.r.Body = readCloser{bytes.NewReader(body.Bytes())}
			again.Body = readCloser{bytes.NewReader(body.Bytes())}
		}
		r, err := v.Verify(c.r)
		if err == nil || r != nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: Verify = %+v, %v, want %v", name, r, err, c.want)
		}
		answer := httptest.NewRecorder()
		v.Handler(func(context.Context, *ma2h.Response) error {
			t.Errorf("%s: it was acted on", name)
			return nil
		}).ServeHTTP(answer, again)
		if answer.Code != c.status {
			t.Errorf("%s: Handler answered %d, want %d", name, answer.Code, c.status)
		}
	}
	elsewhere := newVerifier()
	elsewhere.URL += "/"
	if _, err := elsewhere.Verify(pushRequest(pushBody, good)); !errors.Is(err, signature.ErrMismatch) {
		t.Errorf("Verify at another URL = %v, want %v", err, signature.ErrMismatch)
	}
	keyless := newVerifier()
	keyless.Secrets = []string{""}
	if _, err := keyless.Verify(pushRequest(pushBody, good)); !errors.Is(err, signature.ErrMismatch) {
		t.Errorf("Verify without a secret = %v, want %v", err, signature.ErrMismatch)
	}
}

func TestAPushThatDidNotArriveIsAskedForAgain(t *testing.T) {
	t.Parallel()
	header := signed(t, pushBody, signature.HMAC(pushSecret), pushTime)
	for name, c := range map[string]struct {
		fault  error
		want   error
		status int
	}{
		"the receiver's own read timeout": {os.ErrDeadlineExceeded, client.ErrUnread, 503},
		"a connection that was cut":       {io.ErrUnexpectedEOF, client.ErrUnread, 503},
		"a limit of the receiver's":       {&http.MaxBytesError{Limit: 10}, client.ErrTooLarge, 413},
	} {
		v := newVerifier()
		broken := func() *http.Request {
			r := pushRequest("", header)
			r.Body = io.NopCloser(io.MultiReader(strings.NewReader(pushBody[:10]), iotest.ErrReader(c.fault)))
			return r
		}
		if r, err := v.Verify(broken()); r != nil || !errors.Is(err, c.want) {
			t.Errorf("%s: Verify = %+v, %v, want %v", name, r, err, c.want)
		}
		h := v.Handler(func(context.Context, *ma2h.Response) error { return nil })
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, broken())
		if answer.Code != c.status || (answer.Header().Get("Retry-After") != "") != (c.status == 503) {
			t.Errorf("%s: Handler answered %d %v, want %d", name, answer.Code, answer.Header(), c.status)
		}
		again := httptest.NewRecorder()
		if h.ServeHTTP(again, pushRequest(pushBody, header)); again.Code != http.StatusNoContent {
			t.Errorf("%s: then the whole push was answered %d, want 204", name, again.Code)
		}
	}
}

type readCloser struct{ *bytes.Reader }

func (readCloser) Close() error { return nil }

func TestAReplayIsRefusedWithinTheWindow(t *testing.T) {
	t.Parallel()
	now := pushTime
	v := newVerifier()
	v.Now = func() time.Time { return now }
	ahead := signed(t, pushBody, signature.HMAC(pushSecret), pushTime.Add(120*time.Second))
	if _, err := v.Verify(pushRequest(pushBody, ahead)); err != nil {
		t.Fatal(err)
	}
	for _, later := range []time.Duration{0, 120 * time.Second, 240 * time.Second} {
		now = pushTime.Add(later)
		if _, err := v.Verify(pushRequest(pushBody, ahead)); !errors.Is(err, signature.ErrReplayed) {
			t.Errorf("Verify again after %v = %v, want %v", later, err, signature.ErrReplayed)
		}
	}
}

func TestAForgedPushDoesNotUseUpANonce(t *testing.T) {
	t.Parallel()
	v := newVerifier()
	good := signed(t, pushBody, signature.HMAC(pushSecret), pushTime)
	if _, err := v.Verify(pushRequest(strings.Replace(pushBody, "approve", "deny", 1), good)); err == nil {
		t.Fatal("a forged push verifies")
	}
	if _, err := v.Verify(pushRequest(pushBody, good)); err != nil {
		t.Errorf("Verify after a forged push with its nonce = %v, want nil", err)
	}
}

func TestAHandlerActsOnceOnAResponseThatComesAgain(t *testing.T) {
	t.Parallel()
	fail, acted := errors.New("busy"), 0
	v := newVerifier()
	h := v.Handler(func(context.Context, *ma2h.Response) error {
		acted++
		if acted == 1 {
			return fail
		}
		return nil
	})
	for i, want := range []int{503, 204, 204} {
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, pushRequest(pushBody, signed(t, pushBody, signature.HMAC(pushSecret), pushTime)))
		if answer.Code != want {
			t.Errorf("delivery %d was answered %d, want %d", i, answer.Code, want)
		}
	}
	if acted != 2 {
		t.Errorf("acted %d times, want once in vain and once for good", acted)
	}
}

func TestActedTellsResponsesApartAndForgetsAFailure(t *testing.T) {
	t.Parallel()
	var a client.Acted
	one := &ma2h.Response{InReplyTo: "msg_1", ResolutionID: "res_1"}
	ran := 0
	act := func() error { ran++; return nil }
	err := a.Do(one, func() error {
		if err := a.Do(one, act); !errors.Is(err, client.ErrInProgress) {
			t.Errorf("Do meanwhile = %v, want %v", err, client.ErrInProgress)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []*ma2h.Response{one, {InReplyTo: "msg_1", ResolutionID: "res_2"}, {InReplyTo: "msg_2", ResolutionID: "res_1"}} {
		if err := a.Do(r, act); err != nil {
			t.Errorf("Do(%+v) = %v", r, err)
		}
	}
	if ran != 2 {
		t.Errorf("acted on %d other responses, want 2", ran)
	}
	two := &ma2h.Response{InReplyTo: "msg_3"}
	func() {
		defer func() { _ = recover() }()
		_ = a.Do(two, func() error { panic("in the middle") })
	}()
	if err := a.Do(two, act); err != nil || ran != 3 {
		t.Errorf("Do after a panic = %v, ran %d, want another try", err, ran)
	}
}

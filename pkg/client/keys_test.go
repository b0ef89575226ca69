package client_test

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/signature"
)

// keyHub is a hub of which there is nothing but its JWKS.
type keyHub struct {
	*httptest.Server
	mu      sync.Mutex
	keys    []ed25519.PublicKey
	fails   bool
	fetched int
}

func newKeyHub(t *testing.T, keys ...ed25519.PublicKey) *keyHub {
	t.Helper()
	h := &keyHub{keys: keys}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.fetched++
		if h.fails || r.URL.Path != "/.well-known/jwks.json" {
			http.Error(w, "no", http.StatusNotFound)
			return
		}
		set := []string{`{"kty":"EC","crv":"P-256","x":"AA"}`} // of no use here
		for _, k := range h.keys {
			set = append(set, fmt.Sprintf(`{"kty":"OKP","crv":"Ed25519","x":%q}`, base64.RawURLEncoding.EncodeToString(k)))
		}
		fmt.Fprintf(w, `{"keys":[%s]}`, strings.Join(set, ","))
	}))
	t.Cleanup(h.Close)
	return h
}

func newPair(t *testing.T) (ed25519.PublicKey, signature.PrivateKey) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return public, signature.PrivateKey(private)
}

func TestPushesAreVerifiedUnderTheHubsKeys(t *testing.T) {
	t.Parallel()
	first, signsFirst := newPair(t)
	second, signsSecond := newPair(t)
	_, stranger := newPair(t)
	h := newKeyHub(t, first)
	now := pushTime
	v := newVerifier()
	v.Hub, v.Now = client.New(h.URL, ""), func() time.Time { return now }
	verify := func(what string, key signature.Signer, want error, fetched int) {
		t.Helper()
		_, err := v.Verify(pushRequest(pushBody, signed(t, pushBody, key, now)))
		if !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
		if h.fetched != fetched {
			t.Errorf("%s: the keys were fetched %d times, want %d", what, h.fetched, fetched)
		}
	}
	verify("under the secret, for which no keys are needed", signature.HMAC(pushSecret), nil, 0)
	verify("the first", signsFirst, nil, 1)
	verify("once more", signsFirst, nil, 1)
	verify("a stranger", stranger, signature.ErrMismatch, 1) // not so soon again
	h.keys = []ed25519.PublicKey{second, first}              // both are good while the hub changes its key
	verify("the second, too soon", signsSecond, signature.ErrMismatch, 1)
	now = now.Add(time.Minute)
	verify("the second", signsSecond, nil, 2)
	verify("the first, still", signsFirst, nil, 2)
	for range 5 {
		verify("many strangers", stranger, signature.ErrMismatch, 2)
	}
	now, h.keys = now.Add(time.Minute), []ed25519.PublicKey{second}
	verify("a stranger later", stranger, signature.ErrMismatch, 3)
	verify("the first, which is no key of the hub any more", signsFirst, signature.ErrMismatch, 3)
	now, h.fails = now.Add(time.Minute), true
	verify("a stranger while the hub is away", stranger, signature.ErrMismatch, 4)
	verify("the second, which is known", signsSecond, nil, 4)
}

// TestAPushWhoseKeyCannotBeFetchedIsToBeSentAgain: it would be lost if it were refused.
func TestAPushWhoseKeyCannotBeFetchedIsToBeSentAgain(t *testing.T) {
	t.Parallel()
	public, signs := newPair(t)
	h := newKeyHub(t, public)
	h.fails = true
	v := newVerifier()
	v.Hub = client.New(h.URL, "")
	handler := v.Handler(func(context.Context, *ma2h.Response) error { return nil })
	send := func() int {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, pushRequest(pushBody, signed(t, pushBody, signs, pushTime)))
		return w.Code
	}
	if got := send(); got != http.StatusServiceUnavailable {
		t.Errorf("a push while the keys cannot be fetched is answered %d, want 503", got)
	}
	h.fails = false
	if got := send(); got != http.StatusNoContent {
		t.Errorf("a push once they can is answered %d, want 204", got)
	}
}

func ExampleVerifier_hub() {
	private := ed25519.NewKeyFromSeed([]byte("the seed of a key of 32 bytes ok"))
	public := private.Public().(ed25519.PublicKey)
	hub := serve(map[string]string{"GET /.well-known/jwks.json": fmt.Sprintf(
		`{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"k1","x":%q}]}`, base64.RawURLEncoding.EncodeToString(public))})
	defer hub.Close()
	// A callback of the scheme bearer or apikey: check its token as for any request of yours, and the signature by the hub's key.
	verifier := &client.Verifier{Hub: client.New(hub.URL, ""), URL: answersURL}

	ctx, _ := signature.Response([]byte(pushBody), answersURL)
	header, _ := ctx.Sign(signature.PrivateKey(private), time.Now(), ma2h.NewID(ma2h.PrefixNonce))
	push := httptest.NewRequest(http.MethodPost, "/answers", strings.NewReader(pushBody))
	push.Header.Set(signature.HeaderName, header)
	response, err := verifier.Verify(push)
	fmt.Println(response.InReplyTo, response.Resolution, err)
	// Output: msg_1 answered <nil>
}

package client

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/signature"
)

// MaxPush is the largest body of a push that a Verifier reads, in bytes.
const MaxPush = 4 << 20

// Verifier checks that a pushed Response comes from the hub, unchanged, for this endpoint and for the first time (spec
// §9.2). Use one Verifier for all requests to an endpoint. It is safe for concurrent use once its fields are set.
type Verifier struct {
	// Secrets are the push secrets of the agent: during a rotation the new and the old one. Empty ones are ignored.
	Secrets []string

	// Hub is where the ed25519 keys come from, under which pushes of the schemes bearer and apikey are signed: its JWKS is
	// fetched when it is first needed, and again, once a minute at most, when a signature is under no key that is known. Nil
	// for callbacks of the scheme hmac.
	Hub *Client

	// PublicKeys are ed25519 keys of the hub that are known without that.
	PublicKeys []ed25519.PublicKey

	// URL is the callback's URL, letter by letter as the request named it: a push to elsewhere does not verify.
	URL string

	Window time.Duration    // how far the signature's time may lie off; zero means signature.Window
	Now    func() time.Time // nil means time.Now

	once    sync.Once
	replays signature.Replays
	acted   Acted
	hubKeys hubKeys
}

// The errors of a push whose body was not read.
var (
	ErrTooLarge = errors.New("client: the pushed body is too large") // larger than MaxPush, or than the server allows
	ErrUnread   = errors.New("client: the pushed body did not arrive whole")
	ErrNoKeys   = errors.New("client: the hub's keys cannot be fetched")
)

// Verify reads and checks a push. ErrUnread and ErrNoKeys say nothing about the push: answer 503, and the hub sends it
// again. The other errors are those of package signature, ErrTooLarge, or say that the body is no Response; answer each with a 4xx,
// act on nothing, and pull the message instead.
//
// Of what it returns, Agent is routing only and not signed: never authorize or look up by it. Defaulted has been set anew
// from the signed actor. State is untrusted unless you sealed it (spec §9.3). The same Response may come again, by push
// or by pull: act once for each InReplyTo and ResolutionID (spec §8.3), as Handler and Acted do.
func (v *Verifier) Verify(r *http.Request) (*ma2h.Response, error) {
	body, header, err := readSigned(r)
	if err != nil {
		return nil, err
	}
	return v.verify(r.Context(), body, header)
}

// readSigned returns what was pushed, and its one signature.
func readSigned(r *http.Request) (body []byte, header string, _ error) {
	if r.Method != http.MethodPost {
		return nil, "", fmt.Errorf("verify push: %s is not a push", r.Method)
	}
	headers := r.Header.Values(signature.HeaderName)
	if len(headers) != 1 {
		return nil, "", fmt.Errorf("verify push with %d signatures: %w", len(headers), signature.ErrMalformed)
	}
	body, err := readPush(r.Body)
	return body, headers[0], err
}

func readPush(from io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(from, MaxPush+1))
	if _, over := errors.AsType[*http.MaxBytesError](err); over || len(body) > MaxPush {
		return nil, ErrTooLarge
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnread, err)
	}
	return body, nil
}

func (v *Verifier) verify(ctx context.Context, body []byte, header string) (*ma2h.Response, error) {
	covered, err := signature.Response(body, v.URL)
	if err != nil {
		return nil, fmt.Errorf("verify push: %w", err)
	}
	window, now := v.Window, time.Now
	if window <= 0 {
		window = signature.Window
	}
	if v.Now != nil {
		now = v.Now
	}
	signed, err := v.hubKeys.verify(ctx, v.Hub, delivery{covered, header, now(), window}, v.keys())
	if err != nil {
		return nil, fmt.Errorf("verify push: %w", err)
	}
	var response ma2h.Response
	if err := decode(body, &response); err != nil {
		return nil, fmt.Errorf("verify push: %w", err)
	}
	v.once.Do(func() { v.replays.TTL, v.replays.Now = 2*window, v.Now })
	if err := v.replays.Add(signed.Nonce); err != nil {
		return nil, fmt.Errorf("verify push: %w", err)
	}
	response.Defaulted = response.Response != nil && response.Response.Actor == ma2h.ActorDefaultOnExpire
	return &response, nil
}

func publicKeys(keys []ed25519.PublicKey) []signature.Verifier {
	var out []signature.Verifier
	for _, k := range keys {
		out = append(out, signature.PublicKey(k))
	}
	return out
}

func (v *Verifier) keys() []signature.Verifier {
	var keys []signature.Verifier
	for _, s := range v.Secrets {
		keys = append(keys, signature.HMAC(s))
	}
	return append(keys, publicKeys(v.PublicKeys)...)
}

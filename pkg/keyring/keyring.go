// Package keyring holds what the hub must keep secret: the key that derives refs and ids, the key that wraps agents'
// secrets for their records, and the hub's ed25519 signing keys. They lie in records, wrapped; a Wrapper (a key file, or
// a key service) opens them once a start, and from then on everything happens in memory.
package keyring

import (
	"context"
	"crypto/cipher"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
)

// Wrapper is the key under which the hub's own keys are wrapped. It never leaves where it is kept.
type Wrapper interface {
	// Wrap encrypts secret, and binds it to purpose.
	Wrap(ctx context.Context, purpose string, secret []byte) ([]byte, error)

	// Unwrap returns the secret of Wrap. It returns ErrWrongKey when the key or the purpose is another than it was
	// wrapped with, or when what is wrapped was changed.
	Unwrap(ctx context.Context, purpose string, wrapped []byte) ([]byte, error)
}

// ErrWrongKey is the error of a Wrapper that does not open what it is given.
var ErrWrongKey = errors.New("keyring: not wrapped under this key")

// keySize is that of every symmetric key here, in bytes.
const keySize = 32

// Keyring implements hub.Keys. Make one with Open, Load or Ephemeral. It is safe for concurrent use.
type Keyring struct {
	// Now is the clock that says which key signs. Nil means the real one.
	Now func() time.Time

	derive []byte
	held   atomic.Pointer[held]
	origin *origin // nil where there is nothing to read the keys from again
}

var _ hub.Keys = (*Keyring)(nil)

// held is those of the keys that may change while a process runs.
type held struct {
	wraps   []cipher.AEAD       // the wrapping key, and behind it the one before while a rekey is not finished
	signing func() []signingKey // newest first
	readAt  time.Time
}

// signingKey is a key with when it signs and until when whoever verifies should take it: a zero until is for ever.
type signingKey struct {
	id          string
	private     ed25519.PrivateKey
	createdAt   time.Time
	from, until time.Time
}

// valid says whether a key belongs to the key set at a time, which it does before it signs.
func (s signingKey) valid(now time.Time) bool { return s.until.IsZero() || now.Before(s.until) }

// Ephemeral returns a keyring whose keys are random and gone with the process, for a hub whose records are too. It costs
// next to nothing: the signing key is made when it is first asked for.
func Ephemeral() *Keyring {
	aead, err := newAEAD(randomKey())
	if err != nil {
		panic(err) // a bug: keys made here are of the right size
	}
	k := &Keyring{derive: randomKey()}
	k.held.Store(&held{wraps: []cipher.AEAD{aead}, signing: sync.OnceValue(func() []signingKey {
		return []signingKey{newSigningKey()}
	})})
	return k
}

func (k *Keyring) now() time.Time {
	if k.Now == nil {
		return time.Now()
	}
	return k.Now()
}

func randomKey() []byte {
	key := make([]byte, keySize)
	rand.Read(key) // never returns an error
	return key
}

func newSigningKey() signingKey {
	return signingKeyOf(ed25519.NewKeyFromSeed(randomKey()))
}

// signingKeyOf names a key by its thumbprint (RFC 7638, RFC 8037), so that it has the same id wherever it is computed.
func signingKeyOf(private ed25519.PrivateKey) signingKey {
	public := private.Public().(ed25519.PublicKey)
	sum := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + base64.RawURLEncoding.EncodeToString(public) + `"}`))
	return signingKey{id: base64.RawURLEncoding.EncodeToString(sum[:]), private: private}
}

// Hash returns the HMAC-SHA256 of data under the key that derives refs and ids. Each part is hashed with its length, so
// that no two lists of parts run together.
func (k *Keyring) Hash(data ...string) [32]byte {
	mac := hmac.New(sha256.New, k.derive)
	var length [8]byte
	for _, d := range data {
		binary.BigEndian.PutUint64(length[:], uint64(len(d)))
		mac.Write(length[:])
		mac.Write([]byte(d))
	}
	var sum [32]byte
	mac.Sum(sum[:0])
	return sum
}

// Wrap encrypts a secret with AES-256-GCM for storage in a record; purpose is authenticated with it.
func (k *Keyring) Wrap(_ context.Context, purpose string, secret []byte) ([]byte, error) {
	return seal(k.held.Load().wraps[0], purpose, secret), nil
}

// Unwrap returns the secret of Wrap, or hub.ErrNoKey when it was wrapped elsewhere, for another purpose, or changed. What
// does not open may have been wrapped under keys that are newer than those at hand, so they are read again first.
func (k *Keyring) Unwrap(ctx context.Context, purpose string, wrapped []byte) ([]byte, error) {
	was := k.held.Load()
	secret, _, err := was.open(purpose, wrapped)
	if err == nil {
		return secret, nil
	}
	if k.origin != nil && k.now().Sub(was.readAt) >= reloadPause {
		if err := k.Reload(ctx); err != nil {
			return nil, fmt.Errorf("unwrap %s: %w", purpose, err) // it may yet open another time
		}
		if secret, _, err = k.held.Load().open(purpose, wrapped); err == nil {
			return secret, nil
		}
	}
	return nil, fmt.Errorf("unwrap %s: %w", purpose, hub.ErrNoKey)
}

// Rewrap returns what is wrapped as Wrap would write it now, and whether that is a change: what lies under the wrapping key
// already stays as it is.
func (k *Keyring) Rewrap(_ context.Context, purpose string, wrapped []byte) (_ []byte, changed bool, _ error) {
	h := k.held.Load()
	secret, place, err := h.open(purpose, wrapped)
	if err != nil {
		return nil, false, fmt.Errorf("rewrap %s: %w", purpose, hub.ErrNoKey)
	}
	if place == 0 {
		return wrapped, false, nil
	}
	return seal(h.wraps[0], purpose, secret), true, nil
}

// open tries every wrapping key that is held, and says which one fitted.
func (h *held) open(purpose string, wrapped []byte) (secret []byte, place int, err error) {
	for place, aead := range h.wraps {
		if secret, err = open(aead, purpose, wrapped); err == nil {
			return secret, place, nil
		}
	}
	return nil, 0, err
}

// Public returns the public halves of the signing keys that are valid now, newest first: one that signs later is among
// them, so that whoever verifies knows it in time.
func (k *Keyring) Public() []hub.PublicKey {
	var out []hub.PublicKey
	now := k.now()
	for _, s := range k.held.Load().signing() {
		if s.valid(now) {
			public := s.private.Public().(ed25519.PublicKey)
			out = append(out, hub.PublicKey{ID: s.id, Key: public})
		}
	}
	return out
}

// Sign returns the ed25519 signature of message under the key that signs now, and its id, the kid of the JWKS.
func (k *Keyring) Sign(_ context.Context, message []byte) (kid string, signature []byte, err error) {
	s := k.signing()
	return s.id, ed25519.Sign(s.private, message), nil
}

// signing is the newest of the keys whose time has come.
func (k *Keyring) signing() signingKey {
	now := k.now()
	keys := k.held.Load().signing()
	for _, s := range keys {
		if s.valid(now) && !s.from.After(now) {
			return s
		}
	}
	return keys[len(keys)-1] // a clock that went back
}

// String keeps the keys out of logs.
func (k *Keyring) String() string { return "Keyring" }

// GoString keeps the keys out of logs.
func (k *Keyring) GoString() string { return "Keyring" }

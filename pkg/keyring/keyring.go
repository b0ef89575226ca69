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
	"slices"
	"sync"

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

// Keyring implements hub.Keys. Make one with Open or Ephemeral. It is safe for concurrent use.
type Keyring struct {
	derive  []byte
	aead    cipher.AEAD
	signing func() []signingKey // newest first
}

var _ hub.Keys = (*Keyring)(nil)

type signingKey struct {
	id      string
	private ed25519.PrivateKey
}

// Ephemeral returns a keyring whose keys are random and gone with the process, for a hub whose records are too. It costs
// next to nothing: the signing key is made when it is first asked for.
func Ephemeral() *Keyring {
	k, err := build(randomKey(), randomKey(), sync.OnceValue(func() []signingKey {
		return []signingKey{newSigningKey()}
	}))
	if err != nil {
		panic(err) // a bug: keys made here are of the right size
	}
	return k
}

func build(derive, wrap []byte, signing func() []signingKey) (*Keyring, error) {
	if len(derive) != keySize {
		return nil, fmt.Errorf("a derive key of %d bytes", len(derive))
	}
	aead, err := newAEAD(wrap)
	if err != nil {
		return nil, err
	}
	return &Keyring{derive: derive, aead: aead, signing: signing}, nil
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
	return seal(k.aead, purpose, secret), nil
}

// Unwrap returns the secret of Wrap, or hub.ErrNoKey when it was wrapped elsewhere, for another purpose, or changed.
func (k *Keyring) Unwrap(_ context.Context, purpose string, wrapped []byte) ([]byte, error) {
	secret, err := open(k.aead, purpose, wrapped)
	if err != nil {
		return nil, fmt.Errorf("unwrap %s: %w", purpose, hub.ErrNoKey)
	}
	return secret, nil
}

// Public returns the public halves of the signing keys, newest first.
func (k *Keyring) Public() []hub.PublicKey {
	var out []hub.PublicKey
	for _, s := range k.signing() {
		public := s.private.Public().(ed25519.PublicKey)
		out = append(out, hub.PublicKey{ID: s.id, Key: public})
	}
	return out
}

// Signing returns the newest signing key and its id, the kid of the JWKS.
func (k *Keyring) Signing() (kid string, key ed25519.PrivateKey) {
	s := k.signing()[0]
	return s.id, slices.Clone(s.private)
}

// Sign returns the ed25519 signature of message under the newest signing key, and its id.
func (k *Keyring) Sign(_ context.Context, message []byte) (kid string, signature []byte, err error) {
	s := k.signing()[0]
	return s.id, ed25519.Sign(s.private, message), nil
}

// String keeps the keys out of logs.
func (k *Keyring) String() string { return "Keyring" }

// GoString keeps the keys out of logs.
func (k *Keyring) GoString() string { return "Keyring" }

package signature

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
)

// The names of the algorithms in a capability document (spec §8.0).
const (
	AlgHMAC    = "hmac-sha256"
	AlgEd25519 = "ed25519"
)

// Signer makes signatures under one key. The error is ErrUnusable.
type Signer interface {
	Sign(data []byte) ([]byte, error)
}

// ErrUnusable is the error of signing with a key that is empty or of the wrong size.
var ErrUnusable = errors.New("signature: the key is empty or of the wrong size")

// Verifier checks signatures under one key, in constant time where the key is a secret.
type Verifier interface {
	Verify(data, signature []byte) bool
}

// HMAC is a secret shared by both sides, for hmac-sha256. An empty one signs nothing and verifies nothing.
type HMAC []byte

// Sign returns the HMAC-SHA256 of data.
func (k HMAC) Sign(data []byte) ([]byte, error) {
	if len(k) == 0 {
		return nil, ErrUnusable
	}
	return k.sum(data), nil
}

// Verify says whether signature is the HMAC-SHA256 of data.
func (k HMAC) Verify(data, signature []byte) bool {
	return len(k) > 0 && hmac.Equal(k.sum(data), signature)
}

func (k HMAC) sum(data []byte) []byte {
	mac := hmac.New(sha256.New, k)
	mac.Write(data)
	return mac.Sum(nil)
}

// String keeps the secret out of logs.
func (k HMAC) String() string { return "HMAC" }

// GoString keeps the secret out of logs.
func (k HMAC) GoString() string { return "HMAC" }

// PrivateKey is an ed25519 key of the hub.
type PrivateKey ed25519.PrivateKey

// Sign returns the ed25519 signature of data.
func (k PrivateKey) Sign(data []byte) ([]byte, error) {
	if len(k) != ed25519.PrivateKeySize {
		return nil, ErrUnusable
	}
	return ed25519.Sign(ed25519.PrivateKey(k), data), nil
}

// String keeps the key out of logs.
func (k PrivateKey) String() string { return "PrivateKey" }

// GoString keeps the key out of logs.
func (k PrivateKey) GoString() string { return "PrivateKey" }

// PublicKey is the public half of an ed25519 key, from the hub's JWKS.
type PublicKey ed25519.PublicKey

// Verify says whether signature is the ed25519 signature of data. A key of the wrong size verifies nothing.
func (k PublicKey) Verify(data, signature []byte) bool {
	return len(k) == ed25519.PublicKeySize && ed25519.Verify(ed25519.PublicKey(k), data, signature)
}

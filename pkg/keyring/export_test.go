package keyring

import "crypto/ed25519"

// Signing returns the key that signs now, and its id.
func (k *Keyring) Signing() (kid string, key ed25519.PrivateKey) {
	s := k.signing()
	return s.id, s.private
}

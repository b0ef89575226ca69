package keyring

import (
	"crypto/aes"
	"crypto/cipher"
	"fmt"
)

// sealVersion is the first byte of what seal makes, so that another way of sealing can follow one day.
const sealVersion = 1

func newAEAD(key []byte) (cipher.AEAD, error) {
	if len(key) != keySize {
		return nil, fmt.Errorf("a wrapping key of %d bytes, not %d", len(key), keySize)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("make cipher: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("make cipher: %w", err)
	}
	return aead, nil
}

// seal returns a version byte and the AES-256-GCM of secret, its random nonce in front. Purpose is authenticated.
func seal(aead cipher.AEAD, purpose string, secret []byte) []byte {
	return aead.Seal([]byte{sealVersion}, nil, secret, associated(purpose)) //nolint:gosec // no nonce: the AEAD draws one itself
}

// open returns the secret of seal, or ErrWrongKey.
func open(aead cipher.AEAD, purpose string, wrapped []byte) ([]byte, error) {
	if len(wrapped) == 0 || wrapped[0] != sealVersion {
		return nil, ErrWrongKey
	}
	secret, err := aead.Open(nil, nil, wrapped[1:], associated(purpose))
	if err != nil {
		return nil, ErrWrongKey
	}
	return secret, nil
}

func associated(purpose string) []byte { return append([]byte{sealVersion}, purpose...) }

// Package kmskey keeps the key that wraps the hub's own keys in the AWS Key Management Service, which never hands it out.
package kmskey

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"

	"github.com/mash-hub/mash/pkg/keyring"
)

// contextPurpose is the name in the encryption context under which the purpose stands. It is authenticated, written to
// the trail of every use, and can be named in the key's policy.
const contextPurpose = "mash:purpose"

// Key is the keyring.Wrapper of a symmetric key in KMS. Make one with New.
type Key struct {
	id string

	// What is used of the client, as functions: to hold the client itself would make the linker keep every method of it
	// in a program that has templates.
	encrypt func(context.Context, *kms.EncryptInput, ...func(*kms.Options)) (*kms.EncryptOutput, error)
	decrypt func(context.Context, *kms.DecryptInput, ...func(*kms.Options)) (*kms.DecryptOutput, error)
}

var _ keyring.Wrapper = (*Key)(nil)

// New returns the Key with an id, ARN or alias/name.
func New(client *kms.Client, id string) *Key {
	return &Key{id: id, encrypt: client.Encrypt, decrypt: client.Decrypt}
}

// Any returns a Key that unwraps what was wrapped under whichever key of the account: that is how to move to another. It is
// for an operator; a function names its key.
func (k *Key) Any() *Key {
	other := *k
	other.id = ""
	return &other
}

// Wrap encrypts secret, of at most 4096 bytes, in KMS; purpose is bound to it as the encryption context.
func (k *Key) Wrap(ctx context.Context, purpose string, secret []byte) ([]byte, error) {
	out, err := k.encrypt(ctx, &kms.EncryptInput{
		KeyId: aws.String(k.id), Plaintext: secret, EncryptionContext: map[string]string{contextPurpose: purpose},
	})
	if err != nil {
		return nil, fmt.Errorf("encrypt %s in KMS: %w", purpose, err)
	}
	return out.CiphertextBlob, nil
}

// Unwrap returns the secret of Wrap, or keyring.ErrWrongKey when KMS says that it was wrapped under another key or
// purpose, or was changed.
func (k *Key) Unwrap(ctx context.Context, purpose string, wrapped []byte) ([]byte, error) {
	in := &kms.DecryptInput{CiphertextBlob: wrapped, EncryptionContext: map[string]string{contextPurpose: purpose}}
	if k.id != "" {
		in.KeyId = aws.String(k.id)
	}
	out, err := k.decrypt(ctx, in)
	_, changed := errors.AsType[*types.InvalidCiphertextException](err)
	_, other := errors.AsType[*types.IncorrectKeyException](err)
	if changed || other {
		return nil, fmt.Errorf("decrypt %s in KMS under %s: %w", purpose, k.id, keyring.ErrWrongKey)
	}
	if err != nil {
		return nil, fmt.Errorf("decrypt %s in KMS: %w", purpose, err)
	}
	return out.Plaintext, nil
}

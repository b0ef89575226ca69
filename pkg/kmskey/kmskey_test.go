package kmskey_test

import (
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"github.com/mash-hub/mash/pkg/dynamostore/dynamotest"
	"github.com/mash-hub/mash/pkg/keyring"
	"github.com/mash-hub/mash/pkg/kmskey"
)

func TestMain(m *testing.M) { os.Exit(dynamotest.Main(m)) }

// newKey makes a key in the KMS of the emulator.
func newKey(t *testing.T) *kmskey.Key {
	t.Helper()
	client := kms.NewFromConfig(dynamotest.Config(dynamotest.Transport(t)))
	made, err := client.CreateKey(t.Context(), &kms.CreateKeyInput{})
	if err != nil {
		t.Fatal(err)
	}
	return kmskey.New(client, aws.ToString(made.KeyMetadata.Arn))
}

func TestUnwrapReturnsWhatWasWrappedForThatPurposeOnly(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	secret := []byte{0, 1, 254, 255}
	wrapped, err := key.Wrap(t.Context(), "a purpose", secret)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := key.Unwrap(t.Context(), "a purpose", wrapped); err != nil || !slices.Equal(got, secret) {
		t.Errorf("Unwrap = %v, %v, want %v", got, err, secret)
	}
	if got, err := key.Unwrap(t.Context(), "another", wrapped); !errors.Is(err, keyring.ErrWrongKey) {
		t.Errorf("Unwrap for another purpose = %v, %v, want ErrWrongKey", got, err)
	}
}

// refusing answers every request with an error of KMS.
type refusing string

func (code refusing) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusBadRequest, Request: r,
		Header: http.Header{"Content-Type": {"application/x-amz-json-1.1"}},
		Body:   io.NopCloser(strings.NewReader(`{"__type":"` + string(code) + `","message":"no"}`)),
	}, nil
}

// TestWhatKMSRefuses has KMS refuse by itself, since the emulator's decrypts anything under any key.
func TestWhatKMSRefuses(t *testing.T) {
	t.Parallel()
	for code, wrong := range map[string]bool{
		"InvalidCiphertextException": true, "IncorrectKeyException": true,
		"NotFoundException": false, "AccessDeniedException": false, "DisabledException": false,
	} {
		key := kmskey.New(kms.NewFromConfig(dynamotest.Config(refusing(code))), "alias/mash")
		_, err := key.Unwrap(t.Context(), "a purpose", []byte("x"))
		if err == nil || errors.Is(err, keyring.ErrWrongKey) != wrong {
			t.Errorf("Unwrap when KMS answers %s = %v, want ErrWrongKey %t", code, err, wrong)
		}
		if _, err := key.Wrap(t.Context(), "a purpose", []byte("x")); err == nil || !strings.Contains(err.Error(), code) {
			t.Errorf("Wrap when KMS answers %s = %v", code, err)
		}
	}
}

func TestAKeyringOpensAgainUnderTheSameKeyOnly(t *testing.T) {
	t.Parallel()
	store, key := dynamotest.Store(t), newKey(t)
	first, err := keyring.Open(t.Context(), store, key)
	if err != nil {
		t.Fatal(err)
	}
	second, err := keyring.Open(t.Context(), store, key)
	if err != nil {
		t.Fatal(err)
	}
	if first.Hash("x") != second.Hash("x") {
		t.Error("a keyring that was opened again derives other ids")
	}
	if _, err := keyring.Open(t.Context(), store, newKey(t)); !errors.Is(err, keyring.ErrWrongKey) {
		t.Errorf("Open under another key = %v, want ErrWrongKey", err)
	}
}

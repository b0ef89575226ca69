package awshub_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/keyring"
)

// keySet asks a function that runs for the ids of the hub's public keys.
func (s *stack) keySet(f lambda.Handler) []string {
	s.t.Helper()
	keys, _ := s.must(f, "GET", "/.well-known/jwks.json", "", nil, http.StatusOK)["keys"].([]any)
	var ids []string
	for _, k := range keys {
		id, _ := k.(map[string]any)["kid"].(string)
		ids = append(ids, id)
	}
	return ids
}

func TestAFunctionThatRunsLearnsOfARotation(t *testing.T) {
	t.Parallel()
	s := deploy(t)
	now := time.Now()
	s.config.Now = func() time.Time { return now }
	jwks := s.function(endpoint.JWKS)
	old := s.keySet(jwks)
	done, err := s.config.RotateHubKey(t.Context(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.keySet(jwks); len(got) != 1 || got[0] != old[0] {
		t.Errorf("a moment later the key set is %q, want %q: no request reads the keys", got, old)
	}
	now = now.Add(keyring.ReloadEvery + time.Second)
	if got := s.keySet(jwks); len(got) != 2 || got[0] != done.ID || got[1] != old[0] {
		t.Errorf("%v later the key set is %q, want %s and %s", keyring.ReloadEvery, got, done.ID, old[0])
	}
	var rotating *keyring.RotatingError
	if _, err := s.config.RotateHubKey(t.Context(), 0); !errors.As(err, &rotating) {
		t.Errorf("RotateHubKey again = %v, want a refusal", err)
	}
	now = done.OldUntil
	if got := s.keySet(jwks); len(got) != 1 || got[0] != done.ID {
		t.Errorf("after the overlap the key set is %q, want %s", got, done.ID)
	}
	leaked, err := s.config.ReplaceHubKey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := s.keySet(s.function(endpoint.JWKS)); len(got) != 1 || got[0] != leaked.ID {
		t.Errorf("once a key has leaked the key set is %q, want %s", got, leaked.ID)
	}
}

func TestRekeyMovesTheHubsKeysUnderAnotherKeyOfKMS(t *testing.T) {
	t.Parallel()
	s := deploy(t)
	running := s.function(endpoint.JWKS)
	old := s.keySet(running)
	made, err := kms.NewFromConfig(s.config.AWS).CreateKey(t.Context(), &kms.CreateKeyInput{})
	if err != nil {
		t.Fatal(err)
	}
	before := s.config
	s.config.Key = aws.ToString(made.KeyMetadata.Arn)
	if err := s.config.Rekey(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := s.keySet(s.function(endpoint.JWKS)); len(got) != 1 || got[0] != old[0] {
		t.Errorf("the key set is %q, want %q", got, old)
	}
	if got := s.keySet(running); len(got) != 1 || got[0] != old[0] {
		t.Errorf("a function that runs has the key set %q, want %q", got, old)
	}
	if _, err := before.Open(t.Context()); !errors.Is(err, keyring.ErrWrongKey) {
		t.Errorf("Open under the key before = %v, want %v", err, keyring.ErrWrongKey)
	}
}

func TestWithoutKeysThereIsNothingToRotateOrRekey(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	if _, err := s.config.RotateHubKey(t.Context(), 0); !errors.Is(err, awshub.ErrNoOwner) {
		t.Errorf("RotateHubKey = %v, want %v", err, awshub.ErrNoOwner)
	}
	if err := s.config.Rekey(t.Context()); !errors.Is(err, awshub.ErrNoOwner) {
		t.Errorf("Rekey = %v, want %v", err, awshub.ErrNoOwner)
	}
}

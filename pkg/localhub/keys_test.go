package localhub_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/keyring"
	"github.com/mash-hub/mash/pkg/localhub"
)

// keyed is a folder whose hub has agents with secrets.
type keyed struct {
	t       *testing.T
	folder  localhub.Folder
	secrets map[string]string // of agents
	kid     string
}

func newKeyed(t *testing.T) *keyed {
	t.Helper()
	k := &keyed{t: t, folder: localhub.Folder(t.TempDir()), secrets: map[string]string{}}
	s, err := open(t, string(k.folder), "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range 3 {
		made, err := s.Hub.AddAgent(t.Context(), s.Owner, fmt.Sprintf("bot-%d", i))
		if err != nil {
			t.Fatal(err)
		}
		k.secrets[made.ID] = made.PushSecret
	}
	k.kid = s.Hub.Keys.Public()[0].ID
	return k
}

// starts has a hub start, and holds it to what it had before.
func (k *keyed) starts(when string) {
	k.t.Helper()
	s, err := open(k.t, string(k.folder), "")
	if err != nil {
		k.t.Fatalf("%s no hub starts: %v", when, err)
	}
	defer s.Close()
	for id, secret := range k.secrets {
		made, err := s.Hub.RotateAgent(k.t.Context(), s.Owner, id)
		if err != nil || made.PushSecret != secret {
			k.t.Errorf("%s the secret of %s is lost: %v", when, id, err)
		}
	}
	if got := s.Hub.Keys.Public(); len(got) != 1 || got[0].ID != k.kid {
		k.t.Errorf("%s the signing keys are %v, want %s", when, got, k.kid)
	}
}

func (k *keyed) keyFile() string {
	k.t.Helper()
	text, err := os.ReadFile(filepath.Join(string(k.folder), "hub.key"))
	if err != nil {
		k.t.Fatal(err)
	}
	return string(text)
}

// rekeySteps is what a rekey of three agents does.
var rekeySteps = []string{"settle", "make", "commit", "replace", "rewrap", "rewrap", "rewrap", "finish", "vacuum"}

func TestRekey_ReplacesTheKeyFileAndKeepsEverything(t *testing.T) {
	t.Parallel()
	k := newKeyed(t)
	was := k.keyFile()
	var steps []string
	done, err := k.folder.RekeySteps(t.Context(), func(step string) error {
		steps = append(steps, step)
		return nil
	})
	if err != nil || done != (localhub.Rekeyed{Agents: 3}) || !slices.Equal(steps, rekeySteps) {
		t.Errorf("Rekey = %+v, %v by the steps %q", done, err, steps)
	}
	if k.keyFile() == was {
		t.Error("the key file is the one before")
	}
	k.starts("after a rekey")
	if done, err := k.folder.Rekey(t.Context()); err != nil || done != (localhub.Rekeyed{Agents: 3}) {
		t.Errorf("Rekey again = %+v, %v", done, err)
	}
	k.starts("after another")
}

// TestRekey_CutShortAnywhereLeavesAHubThatStarts: before each of its steps, at which a process can die.
func TestRekey_CutShortAnywhereLeavesAHubThatStarts(t *testing.T) {
	t.Parallel()
	errKilled := errors.New("killed")
	for at, name := range rekeySteps {
		t.Run(fmt.Sprint(at, " ", name), func(t *testing.T) {
			t.Parallel()
			k := newKeyed(t)
			n := 0
			_, err := k.folder.RekeySteps(t.Context(), func(string) error {
				if n++; n == at+1 {
					return errKilled
				}
				return nil
			})
			if !errors.Is(err, errKilled) {
				t.Fatalf("Rekey = %v, want it cut short", err)
			}
			k.starts("cut short")
			done, err := k.folder.Rekey(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			began := slices.Index(rekeySteps, "replace") <= at && name != "vacuum"
			if done.Resumed != began {
				t.Errorf("the next Rekey = %+v, want resumed %t", done, began)
			}
			k.starts("and then done")
			if _, err := os.Stat(filepath.Join(string(k.folder), "hub.key.new")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a key file is left over: %v", err)
			}
		})
	}
}

func TestRekey_OfAFolderInUseOrWithoutAHubIsRefused(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if _, err := localhub.Folder(folder).Rekey(t.Context()); !errors.Is(err, localhub.ErrNoHub) {
		t.Errorf("Rekey of an empty folder = %v, want %v", err, localhub.ErrNoHub)
	}
	if _, err := localhub.Folder(folder).RotateHubKey(t.Context(), keyring.Rotation{}); !errors.Is(err, localhub.ErrNoHub) {
		t.Errorf("RotateHubKey of an empty folder = %v, want %v", err, localhub.ErrNoHub)
	}
	if _, err := open(t, folder, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := localhub.Folder(folder).Rekey(t.Context()); !errors.Is(err, localhub.ErrHeld) {
		t.Errorf("Rekey of a folder in use = %v, want %v", err, localhub.ErrHeld)
	}
}

func TestRotateHubKey_BesideAHubThatRuns(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s, err := open(t, folder, "")
	if err != nil {
		t.Fatal(err)
	}
	done, err := localhub.Folder(folder).RotateHubKey(t.Context(), keyring.Rotation{})
	if err != nil {
		t.Fatal(err)
	}
	keys := s.Hub.Keys.(*keyring.Keyring)
	if err := keys.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := keys.Public(); len(got) != 2 || got[0].ID != done.ID {
		t.Errorf("Public = %v, want %s first of two", got, done.ID)
	}
	if kid, _, _ := keys.Sign(t.Context(), nil); kid != done.Old[0] {
		t.Errorf("it signs with %s, want %s until its time has come", kid, done.Old[0])
	}
	var _ hub.Keys = keys
}

package localhub_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mash-hub/mash/pkg/auth"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/localhub"
)

func open(t *testing.T, folder, owner string) (*localhub.Server, error) {
	t.Helper()
	s, err := localhub.Open(t.Context(), localhub.Config{
		Folder: localhub.Folder(folder), Listen: "127.0.0.1:0", Owner: owner,
	})
	if err == nil {
		t.Cleanup(s.Close)
	}
	return s, err
}

func TestALostOwnerTokenIsWrittenAnewForTheSameAccount(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	first, err := open(t, folder, "alice")
	if err != nil || !first.FirstStart {
		t.Fatalf("Open = %v, first start %v, want a first start", err, first.FirstStart)
	}
	if _, err := first.Hub.AddAgent(t.Context(), first.Owner, "bot"); err != nil {
		t.Fatal(err)
	}
	first.Close()
	if err := os.Remove(filepath.Join(folder, "owner.token")); err != nil {
		t.Fatal(err)
	}
	second, err := open(t, folder, "")
	if err != nil || second.FirstStart {
		t.Fatalf("Open = %v, first start %v, want no first start", err, second.FirstStart)
	}
	agents, err := second.Hub.Agents(t.Context(), second.Owner)
	if err != nil || len(agents) != 1 || second.Owner.Actor() != "human:alice" {
		t.Errorf("after its token was lost, %s has the agents %v, %v; want human:alice with bot", second.Owner.Actor(), agents, err)
	}
}

// TestALostOwnerTokenIsWrittenAnewBesideAnyNumberOfTokens: nothing that a person did may keep the hub from starting.
func TestALostOwnerTokenIsWrittenAnewBesideAnyNumberOfTokens(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for round := range 2 {
		s, err := open(t, folder, "")
		if err != nil {
			t.Fatalf("start %d: %v", round+1, err)
		}
		for err == nil { // until there is no room for more
			_, err = s.Hub.NewPersonToken(t.Context(), s.Owner, "script")
		}
		_, tokens, err := s.Hub.Logins(t.Context(), s.Owner)
		if err != nil || len(tokens) < 50 {
			t.Fatalf("%d tokens, %v", len(tokens), err)
		}
		kept, err := os.ReadFile(filepath.Join(folder, "owner.token"))
		if err != nil {
			t.Fatal(err)
		}
		credential, _ := auth.Parse(strings.TrimSpace(string(kept)))
		if _, err := auth.For(s.Hub).Caller(t.Context(), credential); err != nil {
			t.Errorf("start %d: owner.token is refused: %v", round+1, err)
		}
		s.Close()
		if err := os.Remove(filepath.Join(folder, "owner.token")); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAFolderIsServedForItsOwnerOnly(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	first, err := open(t, folder, "alice")
	if err != nil {
		t.Fatal(err)
	}
	first.Close()
	if _, err := open(t, folder, "bob"); err == nil || !strings.Contains(err.Error(), "human:alice") {
		t.Errorf("Open as bob = %v, want a sentence that names human:alice", err)
	}
}

func TestAListenAddressThatIsNoneIsSaidToBeNone(t *testing.T) {
	t.Parallel()
	for address, says := range map[string]string{"7420": "HOST:PORT", "0.0.0.0:7420": "from outside"} {
		_, err := localhub.Open(t.Context(), localhub.Config{Folder: localhub.Folder(t.TempDir()), Listen: address})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("Open(listen %s) = %v, want a sentence with %q", address, err, says)
		}
	}
}

func TestAnOwnerNeedsANameThatIsOne(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"human:ada", "agent:ada", "ada lovelace", "ada\x00", "\xff", strings.Repeat("a", 201)} {
		folder := localhub.Folder(t.TempDir())
		s, err := localhub.Open(t.Context(), localhub.Config{Folder: folder, Listen: "127.0.0.1:0", Owner: name})
		if err == nil {
			s.Close()
			t.Errorf("a hub of %q was made", name)
		}
	}
}

func TestARevokedTokenOfTheFolderIsMadeAnew(t *testing.T) {
	t.Parallel()
	folder := localhub.Folder(t.TempDir())
	open := func() *localhub.Server {
		s, err := localhub.Open(t.Context(), localhub.Config{Folder: folder, Listen: "127.0.0.1:0"})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	before, err := folder.OwnerToken()
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := s.Hub.Tokens(t.Context(), s.Owner)
	if err != nil || len(tokens) != 1 || s.NewToken {
		t.Fatalf("the owner has the tokens %+v, %v, want one", tokens, err)
	}
	if err := s.Hub.RevokeToken(t.Context(), s.Owner, tokens[0].ID); err != nil {
		t.Fatal(err)
	}
	s.Close()
	s = open()
	defer s.Close()
	after, err := folder.OwnerToken()
	if err != nil || after == before || !s.NewToken {
		t.Errorf("after the next start the token is the one before: %t, %v; said so: %t", after == before, err, s.NewToken)
	}
	tokens, err = s.Hub.Tokens(t.Context(), s.Owner)
	if err != nil || len(tokens) != 1 || tokens[0].ID != hub.LoginHash(after) {
		t.Errorf("the owner has the tokens %+v, %v, want the one in the folder", tokens, err)
	}
}

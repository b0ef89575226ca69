package hub_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/keyring"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
	"github.com/mash-hub/mash/pkg/sqlitestore"
)

// writeFixture has a hub live through what a message can live through, and writes down what it stored and says.
func writeFixture(t *testing.T) {
	memory, err := sqlitestore.OpenMemory()
	if err != nil {
		t.Fatal(err)
	}
	store := &kept{memory, map[record.Key]bool{}}
	f := fixture{Now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), KeyFile: newKeyFile(t)}
	s := serveStored(t, store, f.KeyFile, f.Now.Add(-100*24*time.Hour))
	f.provision(s)
	f.live(s)
	s.now = f.Now
	f.Records = recordsOf(t, store)
	f.ask(s)
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(fixtureFile, append(text, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
}

// provision makes the owner and the agent.
func (f *fixture) provision(s *stored) {
	s.t.Helper()
	owner, _, err := s.hub.EnsureOwner(s.t.Context(), "ada")
	if err != nil {
		s.t.Fatal(err)
	}
	if f.Owner, err = s.hub.NewLogin(s.t.Context(), owner, hub.LoginToken, 0); err != nil {
		s.t.Fatal(err)
	}
	made, err := s.hub.AddAgent(s.t.Context(), owner, "deploybot")
	if err != nil {
		s.t.Fatal(err)
	}
	f.Agent, f.Secret = made.Token, made.PushSecret
}

func newKeyFile(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	wrapper, err := keyring.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := wrapper.Wrap(t.Context(), "", nil); err != nil { // the first one makes the file
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// live sends messages and ends them in every way: one is deleted by now, one past its retention, the others are younger.
func (f *fixture) live(s *stored) {
	gone := f.submit(s, `"type":"ask","title":"gone","request":{"mode":"confirm","allowed_resolvers":["human:ada"]}`)
	answer := func(id, body string) { s.must("POST", "/v1/messages/"+id+"/resolve", f.Owner, body, "status") }
	answer(gone, `{"resolution":"answered","value":"approve"}`)
	for _, days := range []int{69, 31, 31} { // to the end of its retention, and to the end of that
		s.now = s.now.Add(time.Duration(days) * 12 * time.Hour)
		f.settle(s, gone)
	}
	s.now = f.Now.Add(-40 * 24 * time.Hour)
	old := f.submit(s, `"type":"ask","title":"old","request":{"mode":"confirm","allowed_resolvers":["human:ada"]}`)
	answer(old, `{"resolution":"declined","comment":"not on a Friday"}`)
	s.now = f.Now.Add(-5 * 24 * time.Hour)
	f.settle(s, old)
	f.recent(s, answer)
}

func (f *fixture) recent(s *stored, answer func(id, body string)) {
	choice := `"type":"ask","title":%q,"request":{"mode":"select","options":[{"value":"ship","label":"Ship it"},{"value":"hold","label":"Hold"}],"allowed_resolvers":["human:ada","agent:deploybot"]%s}`
	with := func(title, more string) string {
		return strings.Replace(strings.Replace(choice, "%q", `"`+title+`"`, 1), "%s", more, 1)
	}
	f.Open = f.submit(s, with("open", `,"default_on_expire":"hold"`)+`,"expires_at":"2027-01-30T12:00:00Z"`)
	expired := f.submit(s, with("expired", `,"default_on_expire":"hold"`)+`,"expires_at":"`+
		s.now.Add(time.Hour).Format(time.RFC3339)+`"`)
	answered := f.submit(s, with("answered", ""))
	cancelled := f.submit(s, with("cancelled", ""))
	f.Owed = f.submit(s, with("owed", `,"callback":{"mode":"push","url":"https://agent.example/cb","auth":{"scheme":"hmac","secret_ref":"`+hub.PushSecretRef+`"}}`))
	form := f.submit(s, `"type":"ask","title":"form","request":{"mode":"input","allowed_resolvers":["human:ada"],"schema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}`)
	f.submit(s, `"type":"notify","title":"told"`)
	f.submit(s, `"type":"task","title":"task","action":{"kind":"manual","instructions":"Turn the key.","allowed_resolvers":["human:ada"]}`)
	answer(answered, `{"resolution":"answered","value":"ship","comment":"go"}`)
	answer(f.Owed, `{"resolution":"answered","value":"hold"}`)
	answer(form, `{"resolution":"answered","value":{"n":42}}`)
	s.must("POST", "/v1/messages/"+cancelled+"/cancel", f.Agent, "", "status")
	s.must("GET", "/v1/messages/"+answered, f.Agent, "", "status")
	s.must("POST", "/v1/messages/"+answered+"/ack", f.Agent, `{"note":"seen"}`, "by")
	s.now = s.now.Add(2 * time.Hour)
	f.settle(s, expired)
}

// settle does what is due of a message.
func (f *fixture) settle(s *stored, id string) {
	s.t.Helper()
	key, _ := hub.StateKey(id)
	if _, err := s.hub.Fire(s.t.Context(), key); err != nil {
		s.t.Fatal(err)
	}
}

// submit sends an envelope with these members, has its answer asked for at the end, and returns its id.
func (f *fixture) submit(s *stored, members string) string {
	s.t.Helper()
	id := s.must("POST", "/v1/messages", f.Agent, `{"ma2h_version":"0.6","created_at":"2026-08-01T00:00:00Z",`+
		`"agent":{"id":"deploybot","run_id":"r1"},"state":{"n":1e2},"idempotency_key":"k`+ma2h.NewTail()+`",`+members+`}`, "id")
	f.Said = append(f.Said, said{Path: "/v1/messages/" + id, By: "agent"}, said{Path: "/v1/waiting/" + id, By: "owner"})
	return id
}

// ask writes down what the hub says of everything.
func (f *fixture) ask(s *stored) {
	for _, path := range []string{"/v1/waiting", "/v1/agents", "/v1/me"} {
		f.Said = append(f.Said, said{Path: path, By: "owner"})
	}
	for i := range f.Said {
		token := f.Owner
		if f.Said[i].By == "agent" {
			token = f.Agent
		}
		f.Said[i].Status, f.Said[i].Body = s.call("GET", f.Said[i].Path, token, "")
	}
}

// recordsOf returns whatever stands, in order.
func recordsOf(t *testing.T, store *kept) []record.Record {
	t.Helper()
	var all []record.Record
	keys := slices.SortedFunc(maps.Keys(store.keys), func(a, b record.Key) int { return strings.Compare(a.String(), b.String()) })
	for _, k := range keys {
		got, err := store.Get(t.Context(), k)
		if err != nil {
			t.Fatal(err)
		}
		if got[0].Rev != "" {
			all = append(all, got[0])
		}
	}
	return all
}

package hub_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/dynamostore/dynamotest"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/keyring"
	"github.com/mash-hub/mash/pkg/localhub"
	"github.com/mash-hub/mash/pkg/record"
	"github.com/mash-hub/mash/pkg/signature"
	"github.com/mash-hub/mash/pkg/sqlitestore"
)

// update writes the fixture of this version. One that a released version wrote stays as it is for ever.
var update = flag.Bool("update", false, "write testdata/stored anew with this version of the hub")

const fixtureFile = "testdata/stored/format-1.json"

// fixture is all that a hub had stored at one moment, and what it then said over HTTP.
type fixture struct {
	Now     time.Time       `json:"now"`
	KeyFile []byte          `json:"key_file"` // under which the hub's keys lie
	Owner   string          `json:"owner"`    // tokens
	Agent   string          `json:"agent"`
	Secret  string          `json:"secret"` // under which pushes to the agent are signed
	Open    string          `json:"open"`   // id of a message that waits
	Owed    string          `json:"owed"`   // id of one whose Response is yet to be pushed
	Records []record.Record `json:"records"`
	Said    []said          `json:"said"`
}

// said is one answer.
type said struct {
	Path   string          `json:"path"`
	By     string          `json:"by"` // owner or agent
	Status int             `json:"status"`
	Body   json.RawMessage `json:"body"`
}

// kept is a Store that remembers which keys were written.
type kept struct {
	record.Store
	keys map[record.Key]bool
}

func (k *kept) Commit(ctx context.Context, writes ...record.Write) error {
	for _, w := range writes {
		k.keys[w.Record.Key] = true
	}
	return k.Store.Commit(ctx, writes...)
}

// caught is a Pusher that keeps what is pushed.
type caught struct{ pushes []hub.Push }

func (c *caught) Check(string) error { return nil }
func (c *caught) Push(_ context.Context, p hub.Push) hub.PushResult {
	c.pushes = append(c.pushes, p)
	return hub.PushResult{Status: http.StatusOK}
}

// unwound is a Clockwork that does nothing by itself.
type unwound struct{}

func (unwound) Arm(context.Context, record.Key, time.Time) {}

// stored is a hub over a store, at a time that stands still.
type stored struct {
	t      *testing.T
	hub    *hub.Hub
	url    string
	now    time.Time
	pushed *caught
}

// serveStored serves what a store holds, with the hub's keys under a key file of these bytes.
func serveStored(t *testing.T, store record.Store, keyFile []byte, now time.Time) *stored {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, keyFile, 0o600); err != nil {
		t.Fatal(err)
	}
	wrapper, err := keyring.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := keyring.Open(t.Context(), store, wrapper)
	if err != nil {
		t.Fatal(err)
	}
	s := &stored{t: t, now: now, pushed: &caught{}}
	settings := hub.DefaultSettings()
	settings.BaseURL = "https://hub.example"
	s.hub = hub.New(store, keys, s.pushed, &localhub.Bell{}, unwound{}, settings)
	s.hub.Now = func() time.Time { return s.now }
	web := httptest.NewServer(localhub.Web{Hub: s.hub, BaseURL: settings.BaseURL, Log: slog.New(slog.DiscardHandler)}.Handler())
	t.Cleanup(web.Close)
	s.url = web.URL
	return s
}

// call makes one request and returns what came back.
func (s *stored) call(method, path, token, body string) (int, []byte) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, got
}

// must makes a request that has to succeed and returns the member of its answer.
func (s *stored) must(method, path, token, body, member string) string {
	s.t.Helper()
	status, got := s.call(method, path, token, body)
	var members map[string]any
	if err := json.Unmarshal(got, &members); err != nil || status/100 != 2 {
		s.t.Fatalf("%s %s = %d %s", method, path, status, got)
	}
	text, _ := members[member].(string)
	return text
}

func TestWhatTheVersionBeforeStoredIsRead(t *testing.T) {
	if *update {
		writeFixture(t)
	}
	text, err := os.ReadFile(fixtureFile)
	if err != nil {
		t.Fatal(err)
	}
	var f fixture
	if err := json.Unmarshal(text, &f); err != nil {
		t.Fatal(err)
	}
	t.Run("SQLite", func(t *testing.T) {
		store, err := sqlitestore.OpenMemory()
		if err != nil {
			t.Fatal(err)
		}
		f.readBack(t, store)
	})
	if dynamotest.Wanted(t) {
		t.Run("DynamoDB", func(t *testing.T) { f.readBack(t, dynamotest.Store(t)) })
	}
}

// readBack puts the records into an empty store and holds the hub over it to what was said, and to going on from there.
func (f *fixture) readBack(t *testing.T, store record.Store) {
	for _, r := range f.Records {
		if err := store.Commit(t.Context(), record.Put(r, "")); err != nil {
			t.Fatal(err)
		}
	}
	s := serveStored(t, store, f.KeyFile, f.Now)
	tokens := map[string]string{"owner": f.Owner, "agent": f.Agent}
	for _, want := range f.Said {
		status, body := s.call("GET", want.Path, tokens[want.By], "")
		said := decoded(t, want.Body)
		if diff := cmp.Diff(said, asFarAs(said, decoded(t, body))); diff != "" || status != want.Status {
			t.Errorf("GET %s by the %s = %d, want %d (-want +got)\n%s", want.Path, want.By, status, want.Status, diff)
		}
	}
	s.must("POST", "/v1/messages/"+f.Open+"/resolve", f.Owner, `{"resolution":"answered","value":"ship"}`, "status")
	key, _ := hub.StateKey(f.Owed)
	if _, err := s.hub.Fire(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	f.verify(t, s.pushed.pushes)
}

func TestARecordOfANewerVersionIsRefusedAndKept(t *testing.T) {
	store, err := sqlitestore.OpenMemory()
	if err != nil {
		t.Fatal(err)
	}
	f := fixture{Now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), KeyFile: newKeyFile(t)}
	s := serveStored(t, store, f.KeyFile, f.Now)
	f.provision(s)
	id := f.submit(s, `"type":"ask","title":"newer","request":{"mode":"confirm","allowed_resolvers":["human:ada"]}`)
	key, _ := hub.StateKey(id)
	got, err := store.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	newer := got[0]
	newer.Body = append(fmt.Appendf(nil, `{"format":%d,`, hub.RecordFormat+1), got[0].Body[1:]...)
	put := record.Put(newer, got[0].Rev)
	if err := store.Commit(t.Context(), put); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ method, action, token, body string }{
		{"GET", "", f.Agent, ""},
		{"POST", "/cancel", f.Agent, ""},
		{"POST", "/resolve", f.Owner, `{"resolution":"answered","value":"approve"}`},
	} {
		status, body := s.call(c.method, "/v1/messages/"+id+c.action, c.token, c.body)
		if status != http.StatusInternalServerError || !strings.Contains(string(body), "internal_error") {
			t.Errorf("%s %s = %d %s, want 500 internal_error", c.method, c.action, status, body)
		}
	}
	if _, err := s.hub.Fire(t.Context(), key); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("has format %d", hub.RecordFormat+1)) {
		t.Errorf("Fire = %v, want what format it has", err)
	}
	if got, err = store.Get(t.Context(), key); err != nil || got[0].Rev != put.Record.Rev {
		t.Errorf("afterwards the record is %v, %v, want it as it was", got, err)
	}
}

// verify holds the one push to the agent's secret.
func (f *fixture) verify(t *testing.T, pushes []hub.Push) {
	if len(pushes) != 1 {
		t.Fatalf("%d pushes, want the one that was owed", len(pushes))
	}
	signed, err := signature.Response(pushes[0].Body, pushes[0].URL)
	if err != nil {
		t.Fatal(err)
	}
	header := pushes[0].Headers["MA2H-Signature"]
	if _, err := signed.Verify(header, f.Now, signature.Window, signature.HMAC(f.Secret)); err != nil {
		t.Errorf("the push that was owed: %v", err)
	}
}

// asFarAs is got without the members that nobody knew of when want was said.
func asFarAs(want, got any) any {
	switch want := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return got
		}
		known := map[string]any{}
		for name, v := range g {
			if w, ok := want[name]; ok {
				known[name] = asFarAs(w, v)
			}
		}
		return known
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(want) {
			return got
		}
		for i := range g {
			g[i] = asFarAs(want[i], g[i])
		}
		return g
	}
	return got
}

// decoded is a JSON text as values, numbers as they were written.
func decoded(t *testing.T, text []byte) any {
	t.Helper()
	var v any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

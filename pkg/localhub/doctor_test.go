package localhub_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/keyring"
	"github.com/mash-hub/mash/pkg/localhub"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
	"github.com/mash-hub/mash/pkg/sqlitestore"
)

// marker stands in what people and agents wrote, and must not stand in what doctor says.
const marker = "Xq7-what-people-wrote"

// furnished makes a folder with a bit of everything in it, and returns the ids of its messages by what they are.
func furnished(t *testing.T) (folder string, ids map[string]string) {
	t.Helper()
	folder = t.TempDir()
	s, err := open(t, folder, "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err = s.Hub.AddAgent(ctx, s.Owner, "bot")
	must(err)
	_, err = s.Link(ctx, "")
	must(err)
	must(peopled(t, s))
	agent := agentCaller(t, s, "bot")
	ids = map[string]string{}
	for _, name := range []string{"open", "expiring", "answered"} {
		e := ask(name+strings.Repeat("k", 26), doc{
			"mode": "confirm", "allowed_resolvers": []string{"human:owner"}, "body": marker,
		}, time.Time{})
		e["title"], e["agent"] = marker, doc{"id": "bot", "run_id": "r", "runtime": "cli"}
		if name == "expiring" {
			e["expires_at"] = time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
		}
		envelope, invalid := ma2h.ReadMessage(hub.Encode(e))
		if invalid != nil {
			t.Fatal(invalid)
		}
		submitted, err := s.Hub.Submit(ctx, agent, envelope)
		must(err)
		ids[name] = submitted.Ack.ID
	}
	body, invalid := ma2h.ReadResolve([]byte(`{"resolution":"answered","value":"approve"}`), s.Hub.Settings.Limits)
	if invalid != nil {
		t.Fatal(invalid)
	}
	_, err = s.Hub.Resolve(ctx, s.Owner, ids["answered"], "", body)
	must(err)
	return folder, ids
}

// peopled has people invited, joined, signed in and not, and removed.
func peopled(t *testing.T, s *localhub.Server) error {
	t.Helper()
	browser := hub.Browser{Summary: "Firefox on Linux"}
	for _, name := range []string{"joined", "removed", "invited"} {
		made, err := s.Hub.Invite(t.Context(), s.Owner, name, hub.RoleMember)
		if err != nil {
			return err
		}
		if name == "invited" {
			continue
		}
		token := made.URL[strings.LastIndex(made.URL, "/")+1:]
		part := strings.Split(token, "_") // mashp_<account>_<person>_<secret>
		i, err := s.Hub.OpenInvitation(t.Context(), token, part[1], part[2])
		if err != nil {
			return err
		}
		c, _, err := s.Hub.AcceptInvitation(t.Context(), i, "nobody guesses this "+name, browser)
		if err != nil {
			return err
		}
		if name == "removed" {
			if err := s.Hub.RemovePerson(t.Context(), s.Owner, c.Person.Ref); err != nil {
				return err
			}
		}
	}
	for _, name := range []string{"joined", "nobody"} {
		if _, _, err := s.Hub.SignIn(t.Context(), name, "a wrong guess", browser); err == nil {
			return errors.New("a wrong password signs in")
		}
	}
	return nil
}

// agentCaller is an agent of the owner's account.
func agentCaller(t *testing.T, s *localhub.Server, id string) *hub.Caller {
	t.Helper()
	key := hub.AgentKey(s.Hub.AgentRef(s.Owner.Account.Ref, id))
	recs, err := s.Hub.Store.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	var a hub.Agent
	if err := hub.Decode(recs[0], &a); err != nil {
		t.Fatal(err)
	}
	return &hub.Caller{Account: s.Owner.Account, Agent: &a}
}

// faults examines a folder and returns the names of what is at fault.
func faults(t *testing.T, folder string) []string {
	t.Helper()
	checks, err := localhub.Folder(folder).Examine(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range checks {
		if c.State == localhub.CheckFault {
			names = append(names, c.Name)
			if c.Do == "" || c.Says == "" {
				t.Errorf("%s is at fault, and it says %q and to do %q", c.Name, c.Says, c.Do)
			}
		}
		if strings.Contains(fmt.Sprintf("%+v", c), marker) {
			t.Errorf("it tells what people wrote: %+v", c)
		}
	}
	if localhub.Healthy(checks) != (len(names) == 0) {
		t.Errorf("healthy %t with the faults %q", localhub.Healthy(checks), names)
	}
	return names
}

// damaged is a store at whose records a test gets past the hub.
type damaged struct {
	t      *testing.T
	store  *sqlitestore.Store
	folder string
	ids    map[string]string
}

// change commits what f makes of the first record of a kind that it wants.
func (d *damaged) change(kind string, f func(r *record.Record) bool) {
	d.t.Helper()
	var found record.Record
	_ = d.store.Each(d.t.Context(), func(r record.Record) error {
		if r.Kind == kind && found.Rev == "" && f(&r) {
			found = r
		}
		return nil
	})
	if found.Rev == "" {
		d.t.Fatalf("no record of kind %s", kind)
	}
	d.commit(record.Put(found, found.Rev))
}

func (d *damaged) commit(w record.Write) {
	d.t.Helper()
	if err := d.store.Commit(d.t.Context(), w); err != nil {
		d.t.Fatal(err)
	}
}

// lose erases the first record of a kind.
func (d *damaged) lose(kind string) {
	d.t.Helper()
	var found record.Record
	_ = d.store.Each(d.t.Context(), func(r record.Record) error {
		if r.Kind == kind {
			found = r
		}
		return nil
	})
	d.commit(record.Erase(found.Key, found.Rev))
}

// message changes the state of a message.
func (d *damaged) message(name string, f func(r *record.Record)) {
	d.t.Helper()
	key, _ := hub.StateKey(d.ids[name])
	d.change(hub.KindState, func(r *record.Record) bool {
		if r.Key == key {
			f(r)
		}
		return r.Key == key
	})
}

func (d *damaged) file(name string) string { return filepath.Join(d.folder, name) }

func (d *damaged) do(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

func swap(r *record.Record, old, with string) {
	r.Body = bytes.ReplaceAll(r.Body, []byte(old), []byte(with))
}

// damages is what can be wrong with a folder, and the check that has to find it. With after, the store is closed first.
var damages = []struct {
	name  string
	do    func(d *damaged)
	after bool
	finds []string
}{
	{"nothing", func(*damaged) {}, false, nil},
	{"a state without content", func(d *damaged) { d.lose(hub.KindContent) }, false, []string{"references"}},
	{"a content without state", func(d *damaged) { d.lose(hub.KindState) }, false, []string{"references"}},
	{"a login without person", func(d *damaged) { d.lose(hub.KindPerson) }, false, []string{"references"}},
	{"people and agents without account", func(d *damaged) { d.lose(hub.KindAccount) }, false, []string{"references"}},
	{"messages without agent", func(d *damaged) { d.lose(hub.KindAgent) }, false, []string{"references"}},
	{"a hub without owner", func(d *damaged) { d.lose(hub.KindOwner) }, false, []string{"references"}},
	{"a body that is no JSON", func(d *damaged) {
		d.message("open", func(r *record.Record) { r.Body = r.Body[:len(r.Body)/2] })
	}, false, []string{"records"}},
	{"a body of a newer format", func(d *damaged) {
		d.message("open", func(r *record.Record) {
			r.Body = append(fmt.Appendf(nil, `{"format":%d,`, hub.RecordFormat+1), r.Body[1:]...)
		})
	}, false, []string{"records"}},
	{"an envelope that is none", func(d *damaged) {
		d.change(hub.KindContent, func(r *record.Record) bool { r.Body = []byte(`{"envelope":7}`); return true })
	}, false, []string{"records"}},
	{"a kind that is not known", func(d *damaged) {
		d.commit(record.Put(record.Record{Key: record.Key{Part: "z#1", Sort: "z"}, Kind: "zebra", Body: []byte("{}")}, ""))
	}, false, []string{"records"}},
	{"a body of another message", func(d *damaged) {
		d.message("open", func(r *record.Record) { swap(r, d.ids["open"], d.ids["expiring"]) })
	}, false, []string{"records"}},
	{"an outcome that is lost", func(d *damaged) {
		d.message("answered", func(r *record.Record) { swap(r, `"response":{`, `"other":{`) })
	}, false, []string{"records"}},
	{"an open message in no list", func(d *damaged) {
		d.message("open", func(r *record.Record) { r.Tags = [2]record.Tag{} })
	}, false, []string{"lists"}},
	{"an answered message in the list of open ones", func(d *damaged) {
		d.message("answered", func(r *record.Record) { r.Tags[0].Name = strings.Replace(r.Tags[0].Name, "done#", "open#", 1) })
	}, false, []string{"lists"}},
	{"an agent in no list", func(d *damaged) {
		d.change(hub.KindAgent, func(r *record.Record) bool { r.Tags = [2]record.Tag{}; return true })
	}, false, []string{"lists"}},
	{"a deadline at which nothing falls due", func(d *damaged) {
		d.message("expiring", func(r *record.Record) { r.Due = time.Time{} })
	}, false, []string{"due"}},
	{"a deadline that falls due too late", func(d *damaged) {
		d.message("expiring", func(r *record.Record) { r.Due = r.Due.Add(time.Hour) })
	}, false, []string{"due"}},
	{"a retention that never ends", func(d *damaged) {
		d.message("answered", func(r *record.Record) { r.Due = time.Time{} })
	}, false, []string{"due"}},
	{"something due with nothing to do", func(d *damaged) {
		d.message("open", func(r *record.Record) { r.Due = time.Now().Add(time.Hour) })
	}, false, []string{"due"}},
	{"a secret that does not open", func(d *damaged) {
		d.change(hub.KindAgent, func(r *record.Record) bool { swap(r, `"wrapped":"A`, `"wrapped":"B`); return true })
	}, false, []string{"secrets"}},
	{"a derive key of another hub", func(d *damaged) { d.do(deriveAnew(d)) }, false, []string{"keys"}},
	{"keys that are gone", func(d *damaged) {
		for range 3 {
			d.lose(keyring.KindKey)
		}
	}, false, []string{"keys"}},
	{"a rekey that was cut short", func(d *damaged) { d.do(cutShort(d)) }, true, []string{"keys"}},
	{"a key file that is gone", func(d *damaged) { d.do(os.Remove(d.file("hub.key"))) }, true, []string{"keys"}},
	{"a key file of another hub", func(d *damaged) {
		other, _ := furnished(d.t)
		key, err := os.ReadFile(filepath.Join(other, "hub.key"))
		d.do(errors.Join(err, os.WriteFile(d.file("hub.key"), key, 0o600)))
	}, true, []string{"keys"}},
	{"a key file that others may read", func(d *damaged) { d.do(os.Chmod(d.file("hub.key"), 0o644)) }, true, []string{"files", "keys"}},
	{"a database that others may read", func(d *damaged) { d.do(os.Chmod(d.file("mash.db"), 0o640)) }, true, []string{"files"}},
	{"a token that others may read", func(d *damaged) { d.do(os.Chmod(d.file("owner.token"), 0o604)) }, true, []string{"files"}},
	{"a folder that others may write to", func(d *damaged) { d.do(os.Chmod(d.folder, 0o777)) }, true, []string{"files"}},
	{"a database that ends too early", func(d *damaged) { d.do(os.Truncate(d.file("mash.db"), 20000)) }, true, []string{"database"}},
	{"a database that is none", func(d *damaged) {
		d.do(os.WriteFile(d.file("mash.db"), []byte(strings.Repeat("no database", 1000)), 0o600))
	}, true, []string{"database"}},
	{"pages that were overwritten", func(d *damaged) { d.do(overwrite(d.file("mash.db"))) }, true, []string{"database"}},
}

// deriveAnew puts the derive key of one hub in the place of another's.
func deriveAnew(d *damaged) error {
	d.change(keyring.KindKey, func(r *record.Record) bool {
		swap(r, `"wrapped":"A`, `"wrapped":"B`)
		return r.Sort == "derive"
	})
	return nil
}

func cutShort(d *damaged) error {
	errKilled := errors.New("killed")
	_, err := localhub.Folder(d.folder).RekeySteps(d.t.Context(), func(step string) error {
		if step == "rewrap" {
			return errKilled
		}
		return nil
	})
	if errors.Is(err, errKilled) {
		return nil
	}
	return err
}

// overwrite writes over the middle of every page but the first.
func overwrite(path string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for at := 4096; at+2048 < len(raw); at += 4096 {
		copy(raw[at:], bytes.Repeat([]byte{0xa5}, 2048))
	}
	return os.WriteFile(path, raw, 0o600)
}

func TestExamine_FindsEveryDamage(t *testing.T) {
	t.Parallel()
	for _, c := range damages {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			folder, ids := furnished(t)
			store, err := sqlitestore.Open(filepath.Join(folder, "mash.db"))
			if err != nil {
				t.Fatal(err)
			}
			d := &damaged{t, store, folder, ids}
			if !c.after {
				c.do(d)
			}
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}
			if c.after {
				c.do(d)
			}
			if got := faults(t, folder); !slices.Equal(got, c.finds) {
				t.Errorf("faults %q, want %q", got, c.finds)
			}
		})
	}
}

// TestExamine_WhatIsOverdueIsAFaultOfAHubThatRuns and else waits for one.
func TestExamine_WhatIsOverdueIsAFaultOfAHubThatRuns(t *testing.T) {
	t.Parallel()
	folder, ids := furnished(t)
	store, err := sqlitestore.Open(filepath.Join(folder, "mash.db"))
	if err != nil {
		t.Fatal(err)
	}
	key, _ := hub.StateKey(ids["expiring"])
	recs, err := store.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	var s hub.State
	if err := hub.Decode(recs[0], &s); err != nil {
		t.Fatal(err)
	}
	s.ExpiresAt = time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
	recs[0].Body, recs[0].Due = hub.Encode(&s), s.ExpiresAt.Add(time.Millisecond)
	if err := errors.Join(store.Commit(t.Context(), record.Put(recs[0], recs[0].Rev)), store.Close()); err != nil {
		t.Fatal(err)
	}
	if got := faults(t, folder); len(got) > 0 {
		t.Errorf("faults %q while no hub runs, want none", got)
	}
	if _, err := open(t, folder, ""); err != nil { // and does nothing, since it is not run
		t.Fatal(err)
	}
	if got := faults(t, folder); !slices.Equal(got, []string{"overdue"}) {
		t.Errorf("faults %q while a hub runs, want overdue", got)
	}
}

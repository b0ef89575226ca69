package localhub_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/localhub"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
	"github.com/mash-hub/mash/pkg/sqlitestore"
)

// mailed makes a folder in whose mailboxes there is something of every kind: what waits, what is held, what has ended, and
// what came back to a sender's session.
func mailed(t *testing.T) string {
	t.Helper()
	folder, _ := furnished(t)
	s, err := open(t, folder, "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.Hub.SetInterAgent(t.Context(), s.Owner, true))
	bot := agentCaller(t, s, "bot")
	bot.Account.InterAgent = true
	var sessions []string
	for range 2 {
		made, err := s.Hub.Register(t.Context(), bot, &ma2h.Register{})
		must(err)
		sessions = append(sessions, made.Session.ID)
	}
	for _, to := range []string{"agent:bot", "agent:bot", "agent:bot#" + sessions[1]} {
		_, err := s.Hub.Direct(t.Context(), s.Owner, &ma2h.Directive{To: to, Title: marker})
		must(err)
	}
	must(toItself(t, s, bot, sessions))
	drained, err := s.Hub.Drain(t.Context(), bot, hub.DrainOptions{Max: 1})
	must(err)
	var got struct {
		Messages []struct{ Directive ma2h.Directive }
	}
	must(json.Unmarshal(drained, &got))
	_, err = s.Hub.AckMail(t.Context(), bot, "", &ma2h.InboxAckRequest{IDs: []string{got.Messages[0].Directive.ID}})
	must(err)
	_, err = s.Hub.CloseSession(t.Context(), bot, sessions[1])
	must(err)
	key, _ := hub.SessionKey(sessions[1])
	_, err = s.Hub.Fire(t.Context(), key)
	must(err)
	return folder
}

// toItself has an agent ask itself, from one of its sessions to another.
func toItself(t *testing.T, s *localhub.Server, bot *hub.Caller, sessions []string) error {
	t.Helper()
	e := ask(strings.Repeat("m", 27), doc{"mode": "confirm", "body": marker}, time.Time{})
	e["agent"], e["to"] = doc{"id": "bot", "run_id": "r", "session": sessions[0]}, "agent:bot#"+sessions[1]
	envelope, invalid := ma2h.ReadMessage(hub.Encode(e))
	if invalid != nil {
		return invalid
	}
	_, err := s.Hub.Submit(t.Context(), bot, envelope)
	return err
}

func TestExamineFindsWhatIsWrongWithMail(t *testing.T) {
	t.Parallel()
	tagless := func(r *record.Record) bool { r.Tags = [2]record.Tag{}; return true }
	never := func(r *record.Record) bool { r.Due = time.Time{}; return true }
	for name, c := range map[string]struct {
		do    func(d *damaged)
		finds []string
	}{
		"nothing": {func(*damaged) {}, nil},
		"an entry of a directive that is gone": {func(d *damaged) {
			var row record.Record
			_ = d.store.Each(d.t.Context(), func(r record.Record) error {
				if r.Kind == hub.KindRow && strings.HasPrefix(r.Part, "q#d.") {
					row = r
				}
				return nil
			})
			d.commit(record.Erase(row.Key, row.Rev))
		}, []string{"references"}},
		"an entry of nothing": {func(d *damaged) {
			d.commit(record.Put(record.Record{
				Key: record.Key{Part: "q#d.x", Sort: "1"}, Kind: hub.KindRow, Body: []byte(`{"kind":"directive","id":"dir_x"}`),
			}, ""))
		}, []string{"references"}},
		"a session in no list":      {func(d *damaged) { d.change(hub.KindSession, tagless) }, []string{"lists"}},
		"a session that never ends": {func(d *damaged) { d.change(hub.KindSession, never) }, []string{"due"}},
		"live sessions of no format": {func(d *damaged) {
			d.change(hub.KindLive, func(r *record.Record) bool { r.Body = []byte("7"); return true })
		}, []string{"records"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := mailed(t)
			store, err := sqlitestore.Open(filepath.Join(folder, "mash.db"))
			if err != nil {
				t.Fatal(err)
			}
			c.do(&damaged{t: t, store: store, folder: folder})
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}
			if got := faults(t, folder); !slices.Equal(got, c.finds) {
				t.Errorf("it finds %q, want %q", got, c.finds)
			}
		})
	}
}

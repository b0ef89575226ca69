//go:build bench

package localhub_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
	"github.com/mash-hub/mash/pkg/sqlitestore"
)

// mailFloor serves the way of a message as no hub on this store can be faster: with the reads and Commits of records.md, and
// bodies that nobody looks into.
type mailFloor struct {
	store *sqlitestore.Store
	bells map[string]chan struct{}
}

// benchMailFloor serves it to 64 lanes.
func benchMailFloor() {
	store, err := sqlitestore.Open(os.Getenv("BENCH_FOLDER") + "/floor.db")
	die(err)
	f := &mailFloor{store: store, bells: map[string]chan struct{}{}}
	role := mailRole{Sender: "sender"}
	for i := range 64 {
		l := lane{Agent: fmt.Sprint(i), Token: fmt.Sprint(i), Session: ma2h.NewID(ma2h.PrefixSession)}
		role.Lanes = append(role.Lanes, l)
		f.bells[l.Session] = make(chan struct{}, 1)
		f.commit(record.Put(record.Record{Key: sessionOf(l.Session), Kind: hub.KindSession, Body: make([]byte, 300)}, ""))
	}
	f.commit(record.Put(record.Record{Key: hub.AgentKey("floor"), Kind: hub.KindAgent, Body: make([]byte, 400)}, ""))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	die(err)
	go func() {
		ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer cancel()
		<-ctx.Done()
		os.Exit(0)
	}()
	text, err := json.Marshal(role)
	die(err)
	fmt.Println("http://"+listener.Addr().String(), string(text), "token")
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", f.send)
	mux.HandleFunc("GET /v1/inbox", f.drain)
	mux.HandleFunc("POST /v1/inbox/ack", f.ack)
	die(http.Serve(listener, mux))
}

func (f *mailFloor) commit(writes ...record.Write) {
	die(f.store.Commit(context.Background(), writes...))
}

func (f *mailFloor) get(keys ...record.Key) []record.Record {
	recs, err := f.store.Get(context.Background(), keys...)
	die(err)
	return recs
}

func sessionOf(id string) record.Key { return record.Key{Part: "s#" + id, Sort: "session"} }

func contentOf(tail string) record.Key { return record.Key{Part: "m#" + tail, Sort: "content"} }

func stateOf(tail string) record.Key { return record.Key{Part: "m#" + tail, Sort: "state"} }

// send reads the caller, then the destination; commits content, state and row; and looks at the session once more.
func (f *mailFloor) send(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	die(err)
	_, rest, _ := bytes.Cut(body, []byte(`"to":"agent:`))
	to, _, _ := strings.Cut(string(rest), `"`)
	_, session, _ := strings.Cut(to, "#")
	tail, agent := ma2h.NewTail(), hub.AgentKey("floor")
	f.get(agent, hub.AccountKey("floor"), stateOf(tail))
	f.get(agent, hub.LiveKey("floor"), sessionOf(session))
	now := time.Now()
	order := fmt.Sprintf("%019d", now.UnixMicro())
	row := record.Key{Part: "q#s." + session, Sort: order + tail[:4]}
	f.commit(
		record.Put(record.Record{Key: contentOf(tail), Kind: hub.KindContent, Body: body}, ""),
		record.Put(record.Record{
			Key: stateOf(tail), Kind: hub.KindState, Body: fmt.Appendf(make([]byte, 0, 600), "%-600s", row.Sort), Due: now.Add(time.Hour),
			Tags: [2]record.Tag{{Name: "mail#floor", Order: order}, {Name: "mail#agent", Order: order}},
		}, ""),
		record.Put(record.Record{Key: row, Kind: hub.KindRow, Body: fmt.Appendf(nil, "%-150s", tail)}, ""))
	f.get(sessionOf(session))
	select {
	case f.bells[session] <- struct{}{}:
	default:
	}
	w.WriteHeader(http.StatusAccepted)
	_, _ = fmt.Fprintf(w, `{"id":"msg_%s"}`, tail)
}

// renew reads the caller and the session, and writes the session.
func (f *mailFloor) renew(session string) {
	recs := f.get(hub.AgentKey("floor"), hub.AccountKey("floor"), sessionOf(session))
	f.commit(record.Put(record.Record{Key: recs[2].Key, Kind: hub.KindSession, Body: recs[2].Body}, recs[2].Rev))
}

// drain renews, lists the lanes, reads the bodies and claims each row by a Commit of its own.
func (f *mailFloor) drain(w http.ResponseWriter, r *http.Request) {
	session := r.URL.Query().Get("session")
	f.renew(session)
	rows := f.list(session)
	if len(rows) == 0 {
		select {
		case <-f.bells[session]:
		case <-time.After(200 * time.Millisecond):
		}
		f.get(hub.AgentKey("floor"), sessionOf(session))
		rows = f.list(session)
	}
	var keys []record.Key
	for _, row := range rows {
		keys = append(keys, contentOf(strings.TrimSpace(string(row.Body))))
	}
	b := append(make([]byte, 0, 64<<10), `{"messages":[`...)
	if len(keys) > 0 {
		for i, content := range f.get(keys...) {
			if i > 0 {
				b = append(b, ',')
			}
			b = fmt.Appendf(b, `{"message":{"id":%q,"envelope":%s}}`, keys[i].Part[2:], content.Body)
		}
	}
	f.each(len(rows), func(i int) {
		f.commit(record.Put(record.Record{Key: rows[i].Key, Kind: hub.KindRow, Body: rows[i].Body}, rows[i].Rev))
	})
	_, _ = w.Write(append(b, `]}`...))
}

func (f *mailFloor) list(session string) []record.Record {
	lanes := []string{"q#d.floor", "q#m.floor", "q#s." + session}
	found := make([][]record.Record, len(lanes))
	f.each(len(lanes), func(i int) {
		var err error
		found[i], err = f.store.List(context.Background(), lanes[i], "", 100)
		die(err)
	})
	return found[2][:min(len(found[2]), 32)]
}

// ack reads caller, states and rows, and ends each entry by a Commit of its own.
func (f *mailFloor) ack(w http.ResponseWriter, r *http.Request) {
	session := r.URL.Query().Get("session")
	var in struct {
		IDs []string `json:"ids"`
	}
	die(json.NewDecoder(r.Body).Decode(&in))
	f.renew(session)
	var states, rows []record.Key
	for _, tail := range in.IDs {
		states = append(states, stateOf(tail))
	}
	read := f.get(states...)
	for _, s := range read {
		rows = append(rows, record.Key{Part: "q#s." + session, Sort: strings.TrimSpace(string(s.Body))})
	}
	lying := f.get(rows...)
	f.each(len(read), func(i int) {
		f.commit(record.Erase(lying[i].Key, lying[i].Rev), record.Put(record.Record{
			Key: read[i].Key, Kind: hub.KindState, Body: read[i].Body, Due: read[i].Due, Tags: read[i].Tags,
		}, read[i].Rev))
	})
	_, _ = fmt.Fprint(w, `{}`)
}

// each runs f for 0 to n-1, sixteen at a time.
func (*mailFloor) each(n int, do func(i int)) {
	var all sync.WaitGroup
	places := make(chan struct{}, 16)
	for i := range n {
		places <- struct{}{}
		all.Go(func() { defer func() { <-places }(); do(i) })
	}
	all.Wait()
}

package hub_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// chronicle is a desk whose clock goes on by a second with each message, and a count of what its store is asked.
type chronicle struct {
	*desk
	t     *testing.T
	n     int
	reads *reads
}

type reads struct {
	record.Store
	index, get int
}

func (r *reads) Index(ctx context.Context, place int, name string, after record.Entry, limit int) ([]record.Entry, error) {
	r.index++
	return r.Store.Index(ctx, place, name, after, limit)
}

func (r *reads) Get(ctx context.Context, keys ...record.Key) ([]record.Record, error) {
	r.get++
	return r.Store.Get(ctx, keys...)
}

func newChronicle(t *testing.T) *chronicle {
	t.Helper()
	c := &chronicle{desk: newDesk(t), t: t}
	c.reads = &reads{Store: c.Store}
	c.Store = c.reads
	c.Settings.RequestsPerMinute, c.Settings.InboxDepth = 0, 0
	c.at(noon)
	return c
}

// send submits a message of the agent with this id and title a second later, and ends an ask or task as do says.
func (c *chronicle) send(agent, kind, title, do string) string {
	c.t.Helper()
	c.n++
	c.at(noon.Add(time.Duration(c.n) * time.Second))
	rest := map[string]string{
		"notify": "", "ask": `,"request":{"mode":"confirm","allowed_resolvers":["human:alice","agent:other"]}`,
		"task": `,"action":{"instructions":"Do.","allowed_resolvers":["human:alice"]}`,
	}[kind]
	if do == "expire" {
		rest += fmt.Sprintf(`,"expires_at":%q`, ma2h.FormatTime(c.Now().Add(time.Millisecond)))
	}
	sender := &hub.Caller{Account: c.owner.Account, Agent: &hub.Agent{
		ID: agent, Account: c.owner.Account.Ref, Ref: c.AgentRef(c.owner.Account.Ref, agent),
	}}
	e, invalid := ma2h.ReadMessage(fmt.Appendf(nil, `{"ma2h_version":"0.6","type":%q,"created_at":"2026-01-31T12:00:00Z",`+
		`"agent":{"id":%q,"run_id":"r"},"title":%q,"idempotency_key":"k%d"%s}`, kind, agent, title, c.n, rest))
	if invalid != nil {
		c.t.Fatal(invalid)
	}
	s, err := c.Submit(c.t.Context(), sender, e)
	if err != nil {
		c.t.Fatal(err)
	}
	c.end(sender, s.Ack.ID, do)
	return s.Ack.ID
}

func (c *chronicle) end(sender *hub.Caller, id, do string) {
	c.t.Helper()
	var err error
	by := c.owner
	switch do {
	case "open":
		return
	case "cancel":
		_, err = c.Cancel(c.t.Context(), sender, id)
	case "expire":
		c.at(c.Now().Add(time.Second / 2))
		_, err = c.Read(c.t.Context(), c.owner, id)
	case "other":
		by = &hub.Caller{Account: c.owner.Account, Agent: &hub.Agent{ID: "other", Account: c.owner.Account.Ref}}
		_, err = c.Resolve(c.t.Context(), by, id, "", &ma2h.Resolve{Resolution: ma2h.StatusAnswered, Value: []byte(`"deny"`)})
	case "answer":
		_, err = c.Resolve(c.t.Context(), by, id, "", &ma2h.Resolve{Resolution: ma2h.StatusAnswered, Value: []byte(`"deny"`)})
	case "complete":
		_, err = c.Resolve(c.t.Context(), by, id, "", &ma2h.Resolve{Resolution: ma2h.StatusCompleted})
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// titles goes through the whole history, limit messages a page.
func (c *chronicle) titles(f hub.HistoryFilter, limit int) []string {
	c.t.Helper()
	titles, cursor := []string{}, ""
	for range 100 {
		page, err := c.History(c.t.Context(), c.owner, f, cursor, limit)
		if err != nil {
			c.t.Fatal(err)
		}
		for _, r := range page.Rows {
			titles = append(titles, r.Title)
		}
		if cursor = page.Next; cursor == "" {
			return titles
		}
	}
	c.t.Fatal("the history has no end")
	return nil
}

func TestHistoryIsWhatIsOverLatestFirst(t *testing.T) {
	t.Parallel()
	c := newChronicle(t)
	c.send("bot", "ask", "One <b>", "answer")
	c.send("ci", "notify", "Two", "")
	c.send("bot", "ask", "Open", "open")
	c.send("ci", "task", "Three", "complete")
	c.send("bot", "ask", "Four", "expire")
	c.send("bot", "ask", "Five", "cancel")
	c.send("ci", "ask", "SIX", "other")
	day := 24 * time.Hour
	for name, q := range map[string]struct {
		filter hub.HistoryFilter
		want   []string
	}{
		"all":            {hub.HistoryFilter{}, []string{"SIX", "Five", "Four", "Three", "Two", "One <b>"}},
		"agent":          {hub.HistoryFilter{Agent: "ci"}, []string{"SIX", "Three", "Two"}},
		"unknown agent":  {hub.HistoryFilter{Agent: "nobody"}, []string{}},
		"asks":           {hub.HistoryFilter{Type: ma2h.TypeAsk}, []string{"SIX", "Five", "Four", "One <b>"}},
		"notifies":       {hub.HistoryFilter{Type: ma2h.TypeNotify}, []string{"Two"}},
		"agent and kind": {hub.HistoryFilter{Agent: "ci", Type: ma2h.TypeTask}, []string{"Three"}},
		"outcome":        {hub.HistoryFilter{Status: ma2h.StatusAnswered}, []string{"SIX", "One <b>"}},
		"by a person":    {hub.HistoryFilter{By: "human:alice"}, []string{"Three", "One <b>"}},
		"by any agent":   {hub.HistoryFilter{By: "agent:"}, []string{"SIX", "Five"}},
		"by one agent":   {hub.HistoryFilter{By: "agent:other"}, []string{"SIX"}},
		"by nobody":      {hub.HistoryFilter{By: ma2h.ActorDefaultOnExpire}, []string{"Four"}},
		"text":           {hub.HistoryFilter{Text: "<B>"}, []string{"One <b>"}},
		"since":          {hub.HistoryFilter{From: noon.Add(5 * time.Second)}, []string{"SIX", "Five", "Four"}},
		"until":          {hub.HistoryFilter{Until: noon.Add(4 * time.Second)}, []string{"Two", "One <b>"}},
		"between":        {hub.HistoryFilter{From: noon.Add(2 * time.Second), Until: noon.Add(5 * time.Second)}, []string{"Three", "Two"}},
		"tomorrow":       {hub.HistoryFilter{From: noon.Add(day), Until: noon.Add(2 * day)}, []string{}},
		"yesterday":      {hub.HistoryFilter{From: noon.Add(-day), Until: noon.Add(-day / 2)}, []string{}},
	} {
		for _, limit := range []int{1, 2, 50} {
			if diff := cmp.Diff(q.want, c.titles(q.filter, limit)); diff != "" {
				t.Errorf("%s, %d a page (-want +got):\n%s", name, limit, diff)
			}
		}
	}
	stranger, err := c.EnsureAccount(t.Context(), "stranger")
	if err != nil {
		t.Fatal(err)
	}
	if page, err := c.History(t.Context(), stranger, hub.HistoryFilter{Agent: "ci"}, "", 50); err != nil || len(page.Rows) != 0 {
		t.Errorf("another account sees %v, %v", page, err)
	}
	if _, err := c.History(t.Context(), c.agent, hub.HistoryFilter{}, "", 50); ma2h.AsError(err) == nil {
		t.Errorf("an agent sees the history: %v", err)
	}
	for _, cursor := range []string{"x", "1.2", "0000000000000000000.../..", "0000000000000000000.a\n"} {
		if _, err := c.History(t.Context(), c.owner, hub.HistoryFilter{}, cursor, 50); ma2h.AsError(err) == nil {
			t.Errorf("the cursor %q is taken: %v", cursor, err)
		}
	}
}

func TestHistoryPagesStayRightWhileNewOnesArrive(t *testing.T) {
	t.Parallel()
	c := newChronicle(t)
	var want []string
	for i := range 9 {
		c.send("bot", []string{"ask", "notify"}[i%2], fmt.Sprint(i), []string{"answer", ""}[i%2])
		want = append([]string{fmt.Sprint(i)}, want...)
	}
	var got []string
	cursor := ""
	for {
		page, err := c.History(t.Context(), c.owner, hub.HistoryFilter{}, cursor, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Rows {
			got = append(got, r.Title)
		}
		if cursor = page.Next; cursor == "" {
			break
		}
		c.send("bot", "ask", "new", "answer")
		c.send("bot", "notify", "new", "")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
}

// The budget of a page: one look at each list where nothing is filtered, and six at the most, each with one read of what
// stands there.
func TestHistoryReadsABoundedPart(t *testing.T) {
	t.Parallel()
	c := newChronicle(t)
	c.send("bot", "ask", "needle", "answer")
	for range 700 {
		c.send("bot", "notify", "hay", "")
	}
	ask := func(f hub.HistoryFilter, cursor string) (*hub.HistoryPage, int, int) {
		c.reads.index, c.reads.get = 0, 0
		page, err := c.History(t.Context(), c.owner, f, cursor, 25)
		if err != nil {
			t.Fatal(err)
		}
		return page, c.reads.index, c.reads.get
	}
	if page, index, get := ask(hub.HistoryFilter{}, ""); index != 2 || get != 2 || len(page.Rows) != 25 || !page.SearchedTo.IsZero() {
		t.Errorf("a page takes %d looks and %d reads and has %d rows, searched to %s; want 2, 2, 25", index, get, len(page.Rows), page.SearchedTo)
	}
	needle := hub.HistoryFilter{Text: "needle", Agent: "bot"}
	page, index, get := ask(needle, "")
	if index != 6 || get != 6 || len(page.Rows) != 0 || page.Next == "" {
		t.Fatalf("a search takes %d looks and %d reads and has %v; want 6, 6 and where to go on", index, get, page)
	}
	if want := noon.Add(102 * time.Second); !page.SearchedTo.Equal(want) {
		t.Errorf("searched back to %s, want %s", page.SearchedTo, want)
	}
	page, _, _ = ask(needle, page.Next)
	if len(page.Rows) != 1 || page.Next != "" || !page.SearchedTo.IsZero() {
		t.Errorf("further back there is %v, want the needle and the end", page)
	}
}

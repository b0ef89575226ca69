package conform_test

import (
	"context"
	"errors"
	"regexp"
	"testing"

	"github.com/mash-hub/mash/pkg/conform"
	"github.com/mash-hub/mash/pkg/localhub"
	"github.com/mash-hub/mash/pkg/realtime"
)

// mortal is a hub that ends and begins again at the same address.
type mortal struct {
	folder localhub.Folder
	listen string
	url    string
	end    func() error
}

func startMortal(t *testing.T) *mortal {
	t.Helper()
	m := &mortal{folder: localhub.Folder(t.TempDir()), listen: freeAddress(t)}
	if err := m.begin(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.end(); err != nil {
			t.Errorf("the hub ended with %v", err)
		}
	})
	return m
}

func (m *mortal) begin(ctx context.Context) error {
	s, err := localhub.Open(ctx, localhub.Config{Folder: m.folder, Listen: m.listen})
	if err != nil {
		return err
	}
	s.Hub.Settings = realtime.Settings()
	s.Hub.Settings.ServeAt(s.URL)
	m.url = s.URL
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	m.end = func() error { stop(); return <-ended }
	return nil
}

func (m *mortal) restart(ctx context.Context) error {
	return errors.Join(m.end(), m.begin(context.WithoutCancel(ctx)))
}

// asked is the verdict on the restart of a hub at url.
func (m *mortal) asked(t *testing.T, url string, restart func(context.Context) error) conform.Result {
	t.Helper()
	token, err := m.folder.OwnerToken()
	if err != nil {
		t.Fatal(err)
	}
	stage := &conform.Real{URL: url, Owner: token, Restart: restart}
	results, err := conform.Run(t.Context(), stage, conform.Options{Only: regexp.MustCompile(`^dp-007\.8 `)})
	if err := errors.Join(err, stage.Close(t.Context())); err != nil || len(results) != 1 {
		t.Fatalf("Run = %v, %v, want one result", results, err)
	}
	return results[0]
}

func TestMailSurvivesARestart(t *testing.T) {
	t.Parallel()
	m := startMortal(t)
	if r := m.asked(t, m.url, m.restart); r.Verdict != conform.Passed {
		t.Errorf("%+v, want it to pass", r)
	}
	if r := m.asked(t, m.url, nil); r.Verdict != conform.NotApplicable {
		t.Errorf("without a way to restart it: %+v, want it not to be applicable", r)
	}
	failing := errors.New("there is no way")
	if r := m.asked(t, m.url, func(context.Context) error { return failing }); r.Verdict != conform.Failed {
		t.Errorf("with a restart that fails: %+v, want a failure", r)
	}
}

// TestARestartThatLosesIsNoticed breaks a hub in each way that its clause is about, once it has been started again.
func TestARestartThatLosesIsNoticed(t *testing.T) {
	t.Parallel()
	m := startMortal(t)
	for what, breaks := range map[string]func(a *wire){
		"mail":  func(a *wire) { dropped(a, func(map[string]any) bool { return true }) },
		"acks":  func(a *wire) { was(a, "acknowledged", "delivered") },
		"reads": func(a *wire) { was(a, "delivered", "queued") },
		"leases": func(a *wire) {
			if s := inner(a.body, "session"); s != nil {
				s["state"] = "expired"
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			by := &saboteur{answer: func(s *saboteur, a *wire) {
				if s.memory["restarted"] == true {
					breaks(a)
				}
			}}
			restart := func(context.Context) error {
				by.mu.Lock()
				defer by.mu.Unlock()
				by.memory["restarted"] = true
				return nil
			}
			if r := m.asked(t, by.startProxy(t, m.url), restart); r.Verdict != conform.Failed {
				t.Errorf("%+v, want a failure", r)
			} else {
				t.Log(r.Want)
			}
		})
	}
}

// was changes the state of a directive's track.
func was(a *wire, from, to string) {
	if track := inner(a.body, "mailbox"); track != nil && track["state"] == from {
		track["state"] = to
	}
}

// dropped takes entries out of a drain.
func dropped(a *wire, which func(map[string]any) bool) {
	kept := []any{}
	for _, e := range a.entries() {
		if !which(inner(e)) {
			kept = append(kept, e)
		}
	}
	if a.entries() != nil {
		a.body["messages"] = kept
	}
}

//go:build browser

package realtime_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mash-hub/mash/pkg/endpoint"
)

// getSnippet presses the button of the empty list. The list of a hub that others use is not empty: there the form is made,
// with the token that every form of the session has.
func (w *window) getSnippet(agent string) {
	w.t.Helper()
	w.open("/inbox")
	if !w.has("form.try") {
		eval[bool](w, `fetch("settings").then((r) => r.text()).then((page) => document.body.insertAdjacentHTML("beforeend",
			'<form class="try" method="post" action="`+w.base+`/inbox">' + page.match(/<input type="hidden" name="csrf"[^>]*>/)[0] +
			'<input id="agent" name="agent"><button>Get</button></form>') || true)`)
	}
	eval[bool](w, fmt.Sprintf("document.querySelector('#agent').value = %q; true", agent))
	w.clickThrough("form.try button")
}

// runSnippet begins to run one as a person would, pasted into a shell or a file.
func (s *server) runSnippet(way, text string) <-chan string {
	s.t.Helper()
	mash, err := buildMash()
	if err != nil {
		s.t.Fatalf("build mash: %v\n%s", err, mash)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 4*patience)
	cmd := exec.CommandContext(ctx, "bash", "-c", text)
	if way == "go" {
		cmd = exec.CommandContext(ctx, "go", "run", "-mod=mod", ".")
		cmd.Dir = s.goModule(text)
	}
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(mash)+":"+os.Getenv("PATH"))
	told := make(chan string, 1)
	t := s.t
	var running sync.WaitGroup
	running.Go(func() {
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", way, err, out)
		}
		told <- string(out)
	})
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	return told
}

// goModule is a folder with a program in it, and a module that finds this one here.
func (s *server) goModule(program string) string {
	s.t.Helper()
	dir := s.t.TempDir()
	root, err := filepath.Abs("../..")
	if err != nil {
		s.t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		s.t.Fatal(err)
	}
	mod := "module try\n\ngo 1.26.0\n\nrequire github.com/mash-hub/mash v0.0.0\n\nreplace github.com/mash-hub/mash => " + root + "\n"
	for name, text := range map[string]string{"main.go": program, "go.mod": mod, "go.sum": string(sums)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	return dir
}

// TestBrowser_L14_TheSnippetsRun: each of the three asks as it stands on the page; the ask comes up in the same window, is
// answered there, and the snippet prints the answer. They name nobody, so that it is the account's first owner who may.
func TestBrowser_L14_TheSnippetsRun(t *testing.T) {
	onEngines(t, func(s *server) {
		w := s.window(desktop)
		w.signIn()
		agent := "try"
		if s.shared {
			agent = unique("try")
		}
		w.getSnippet(agent)
		w.isLive()
		snippets := map[string]string{}
		for _, way := range []string{"mash", "curl", "go"} {
			snippets[way] = w.text("#snippet-" + way)
			if !strings.Contains(snippets[way], s.url) {
				s.t.Errorf("the snippet for %s does not say %s:\n%s", way, s.url, snippets[way])
			}
		}
		for way, text := range snippets {
			told := s.runSnippet(way, text)
			w.answersTry(way, agent)
			if said := <-told; !strings.Contains(said, "approve") {
				s.t.Errorf("%s printed %q, want the answer in it", way, said)
			}
		}
	})
}

// answersTry answers what a snippet asks in the window, where it comes up by itself. A list that others fill shows but its
// first rows: there it is answered on its own page.
func (w *window) answersTry(way, agent string) {
	w.t.Helper()
	id := ""
	w.until(way+" asks", func() bool {
		id = w.waitsOf(agent)
		return id != ""
	})
	if id == "" {
		w.t.FailNow()
	}
	if w.shared {
		w.open("/inbox/" + id)
		w.clickThrough("button[value='option:0']")
		return
	}
	w.seeRow(openRow(id))
	if text := w.text(row(id)); !strings.Contains(text, "Does this reach you?") {
		w.t.Errorf("the row of %s says %q", way, text)
	}
	w.click(quickButton(id, 0))
}

// waitsOf returns the id of what an agent asked and waits for, or nothing.
func (s *server) waitsOf(agent string) string {
	s.t.Helper()
	list, _ := s.owner.call(endpoint.Waiting, nil).is(http.StatusOK).at("/waiting").([]any)
	for _, row := range list {
		if id, ok := lookUp(row, "/id").(string); ok && lookUp(row, "/agent_id") == agent {
			return id
		}
	}
	return ""
}

// TestBrowser_L14_AFreshTokenEachTime: of the suggested agent only; another name that is taken says so, and its token stays.
func TestBrowser_L14_AFreshTokenEachTime(t *testing.T) {
	onPages(t, func(s *server) {
		bot := s.agent("bot")
		w := s.window(phone)
		w.signIn()
		w.getSnippet("try")
		first := w.text("#snippet-mash")
		w.getSnippet("try")
		if again := w.text("#snippet-mash"); again == first || !strings.Contains(again, "MASH_TOKEN=mash_") {
			s.t.Errorf("the second snippet is %q, and the first %q", again, first)
		}
		w.getSnippet(bot.id)
		if !w.has("#agent[aria-invalid]") && !s.shared || w.has("#snippet-mash") {
			s.t.Error("the name of an agent that there is was taken")
		}
		if !s.shared { // what is wrong stays while other things come
			w.isLive()
			bot.accepted(s.notify())
			w.see("it was told", `document.body.innerText.includes('The build is green')`)
			if !w.has("#agent[aria-invalid]") || eval[string](w, `document.querySelector("#agent").value`) != bot.id {
				s.t.Error("what is wrong with the name went away by itself")
			}
			w.seeRow(openRow(bot.accepted(s.ask()))) // but nothing hides a question
		}
		bot.get("/v1/me").is(http.StatusOK)
	})
}

func tryScenes() []scene {
	return []scene{{
		name: "inbox-snippet", act: func(w *window) {
			w.getSnippet("try")
			w.isLive()
		},
		set: func(*server) string { return "/inbox" },
	}}
}

//go:build browser

package realtime_test

import (
	_ "embed"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// measureJS is a script that says what of a page is too small, too wide or has no name.
//
//go:embed testdata/measure.js
var measureJS string

// axe returns axe-core, which tools/axe.sh fetches.
var axe = sync.OnceValues(func() (string, error) {
	path := os.Getenv("MASH_AXE")
	if path == "" {
		found, err := filepath.Glob("../../.tools/axe-core-*/axe.min.js")
		if err != nil || len(found) == 0 {
			return "", os.ErrNotExist
		}
		path = found[len(found)-1]
	}
	text, err := os.ReadFile(path)
	return string(text), err
})

// fault is something wrong with a page, and where.
type fault struct {
	Rule, Help string
	At         []string
}

// TestBrowser_L6_L16_EveryPageIsForEverybody: with and without scripts, on a phone and a desktop, light and dark, axe-core
// finds nothing; and what it does not look for: no page scrolls sideways, no target is smaller than 44 px, no text than 14,
// nothing that can be used is without a name.
func TestBrowser_L6_L16_EveryPageIsForEverybody(t *testing.T) {
	onScenes(t, func(s *server, sc scene) {
		path := sc.set(s)
		w := s.window(desktop)
		if !sc.open {
			w.signIn()
		}
		for _, v := range []view{desktop, desktop.withoutScript(), phone, phone.withoutScript()} {
			if sc.act != nil && v.noScript {
				continue
			}
			w.as(v)
			w.open(path)
			if sc.act != nil {
				sc.act(w)
			}
			w.isForEverybody(v)
			w.as(v.inTheDark())
			w.isForEverybody(v.inTheDark())
		}
	})
}

// isForEverybody holds what the window shows to axe-core and to measure.js.
func (w *window) isForEverybody(v view) {
	w.t.Helper()
	text, err := axe()
	if err != nil {
		w.t.Fatalf("axe-core: %v; run tools/axe.sh", err)
	}
	w.do(w.scripts(true)) // those of the page have had their time, and axe waits by a timer
	if !eval[bool](w, "Boolean(window.axe)") {
		eval[any](w, text+"; true")
	}
	for _, f := range eval[[]fault](w, measureJS) {
		w.t.Errorf("%s, %s: %s (%s)\n  %s", w.at(), v, f.Rule, f.Help, strings.Join(f.At, "\n  "))
	}
}

//go:build browser

package realtime_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestScreenshots photographs every scene, phone and desktop, light and dark, into the folder MASH_SCREENSHOTS.
func TestScreenshots(t *testing.T) {
	folder := os.Getenv("MASH_SCREENSHOTS")
	if folder == "" {
		folder = t.TempDir()
	}
	onScenes(t, func(s *server, sc scene) {
		path := sc.set(s)
		w := s.window(desktop)
		if !sc.open {
			w.signIn()
		}
		for _, v := range []view{desktop, phone} {
			for _, v := range []view{v, v.inTheDark()} {
				w.as(v)
				w.open(path)
				if sc.act != nil {
					sc.act(w)
				}
				name := sc.name + "-" + strings.ReplaceAll(v.String(), " ", "-") + ".png"
				if err := os.WriteFile(filepath.Join(folder, name), w.screenshot(v), 0o600); err != nil {
					s.t.Fatal(err)
				}
			}
		}
	})
}

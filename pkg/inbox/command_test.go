package inbox_test

import (
	"net/http"
	"testing"

	"github.com/mash-hub/mash/pkg/inbox"
)

func TestHintsCanBePasted(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		config              inbox.Config
		link, agentAdd, ask string
	}{
		"installed": {inbox.Config{}, "mash link", "mash agent add first", `mash ask "Does`},
		"built here": {
			inbox.Config{Command: "bin/mash", Folder: "/srv/mash"},
			"bin/mash link --data /srv/mash", "bin/mash agent add first --data /srv/mash", `bin/mash ask "Does`,
		},
		"run by go": {
			inbox.Config{Command: "go run ./cmd/mash"}, "go run ./cmd/mash link", "go run ./cmd/mash agent add first",
			`go run ./cmd/mash ask "Does`,
		},
		"an odd folder": {
			inbox.Config{Folder: "/srv/o'neil/my data"}, `mash link --data '/srv/o'\''neil/my data'`,
			`mash agent add first --data '/srv/o'\''neil/my data'`, `mash ask "Does`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRigWith(t, c.config)
			link := r.newLink()
			r.get(link).is(http.StatusOK).says(c.agentAdd, c.ask, "three export lines")
			r.get("/settings").says(c.link)
			r.get("/signin").says(c.link)
			r.getIn(r.newBrowser(), link).is(http.StatusUnauthorized).says(c.link)
		})
	}
}

func TestHintsOnAWSCanBeFollowedThere(t *testing.T) {
	t.Parallel()
	for stack, named := range map[string]string{"Mash": "Mash", "two words": "'two words'"} {
		r := newRigWith(t, inbox.Config{Stack: stack})
		link := r.newLink()
		first := r.get(link).is(http.StatusOK)
		first.says("export MASH_URL=" + r.server.URL + " export MASH_TOKEN=$(mash-aws token --stack " + named + ") mash agent add first " +
			`mash ask "Does`)
		signIn := []*answer{
			r.get("/settings").is(http.StatusOK), r.get("/signin").is(http.StatusOK),
			r.getIn(r.newBrowser(), link).is(http.StatusUnauthorized),
			r.getIn(r.newBrowser(), "/inbox").is(http.StatusUnauthorized),
		}
		for _, p := range signIn {
			p.says("mash-aws bootstrap --stack "+named, "AWS credentials")
		}
		for _, p := range append(signIn, first) {
			p.lacks("machine that the hub runs on", "mash link")
		}
	}
}

//go:build browser

package realtime_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/inbox"
)

// scene is a page in one of its states, which the tests of all pages look at and make screenshots will photograph.
type scene struct {
	name  string // of its screenshots
	route string // as in inbox.Pages; empty for a page that stands at no route of its own
	open  bool   // nobody is signed in

	// set makes what there is to see, and returns the path to see it at. The hub is empty unless it is shared.
	set func(s *server) string

	// act, unless nil, is what is done on the page before it is looked at. It needs scripts to run.
	act func(w *window)
}

// scenes are all there are. Whoever adds a route adds its scenes, at least one, to a list in a file that is about it, and
// the list here.
func scenes() []scene {
	var all []scene
	for _, some := range [][]scene{
		inboxScenes(),
		messageScenes(),
		formScenes(),
		contextScenes(),
		historyScenes(),
		agentScenes(),
		mailScenes(), stopScenes(),
		doorScenes(),
		settingsScenes(),
		peopleScenes(),
		keysScenes(),
		tryScenes(),
	} {
		all = append(all, some...)
	}
	return all
}

// TestBrowser_EveryPageHasAScene: who adds a page adds what it looks like.
func TestBrowser_EveryPageHasAScene(t *testing.T) {
	t.Parallel()
	seen, names := map[string]bool{}, map[string]bool{}
	for _, sc := range scenes() {
		if names[sc.name] {
			t.Errorf("two scenes are called %s", sc.name)
		}
		seen[sc.route], names[sc.name] = true, true
	}
	pages := inbox.Pages()
	if len(pages) == 0 {
		t.Error("the inbox has no pages")
	}
	for _, route := range pages {
		if !seen[route] {
			t.Errorf("%s has no scene, see scenes", route)
		}
		delete(seen, route)
	}
	delete(seen, "")
	for route := range seen {
		t.Errorf("a scene stands at %s, which is no page", route)
	}
}

// inboxScenes are the list in its states.
func inboxScenes() []scene {
	return []scene{
		{name: "inbox", route: "/inbox", set: func(s *server) string {
			s.sampleDay()
			return "/inbox"
		}},
		{name: "inbox-empty", route: "/inbox", set: func(*server) string { return "/inbox" }},
		{name: "inbox-from-root", route: "/{$}", set: func(*server) string { return "/" }},
		{name: "inbox-from-slash", route: "/inbox/{$}", set: func(*server) string { return "/inbox/" }},
		{name: "inbox-second-part", set: func(s *server) string {
			for _, name := range []string{"crm-clerk", "bookkeeper"} {
				bot := s.sampleAgent(name)
				for range 26 {
					bot.accepted(s.ask(choose))
				}
			}
			return "/inbox?from=50"
		}},
		{name: "inbox-others", route: "/inbox", set: func(s *server) string {
			bot := s.sampleAgent("crm-clerk")
			bot.accepted(s.ask(lasting, set("/title", "May I merge the two records?"),
				set("/request/allowed_resolvers", []string{"human:grace", "agent:reviewer"})))
			bot.accepted(s.ask(lasting, set("/title", "Who may answer this?"), set("/request/allowed_resolvers", []string{})))
			return "/inbox"
		}},
	}
}

// messageScenes are messages of every kind.
func messageScenes() []scene {
	return []scene{
		{name: "message-select", route: "/inbox/{id}", set: func(s *server) string {
			return "/inbox/" + s.sampleDay()["ship"]
		}},
		{name: "message-form", route: "/inbox/{id}", set: func(s *server) string {
			return "/inbox/" + s.sampleAgent("bookkeeper").accepted(s.ask(sampleForm))
		}},
		{name: "message-task", route: "/inbox/{id}", set: func(s *server) string {
			return "/inbox/" + s.sampleAgent("keysmith").accepted(s.task(sampleTask))
		}},
		{name: "message-notify", route: "/inbox/{id}", set: func(s *server) string {
			return "/inbox/" + s.sampleAgent("ci").accepted(s.notify(set("/title", "The nightly build is green"),
				set("/body", "All **2,114** tests passed in 6 min 12 s.")))
		}},
		{name: "message-answered", route: "/inbox/{id}", set: func(s *server) string {
			id := s.sampleAgent("deploybot/dev-team").accepted(s.ask(sampleShip))
			s.owner.resolve(id, doc{"resolution": "answered", "value": "ship", "comment": "Go ahead, I watch the graphs."})
			return "/inbox/" + id
		}},
		{name: "message-many-options", route: "/inbox/{id}", set: func(s *server) string {
			return "/inbox/" + s.sampleAgent("planner").accepted(s.ask(sampleMany))
		}},
		{name: "message-of-others", route: "/inbox/{id}", set: func(s *server) string {
			return "/inbox/" + s.sampleAgent("crm-clerk").accepted(s.ask(set("/title", "May I merge the two records?"),
				set("/request/allowed_resolvers", []string{"human:grace"})))
		}},
	}
}

// doorScenes are the ways in, and what is shown to who finds no way.
func doorScenes() []scene {
	return []scene{
		{name: "signin", route: "/signin", open: true, set: func(*server) string { return "/signin" }},
		{name: "signin-first", open: true, set: func(*server) string { return "/inbox" }},
		{name: "link-used", route: "/in/{token}", open: true, set: func(s *server) string {
			link := s.link()
			s.browser().page(link)
			return link
		}},
		{name: "nothing-here", set: func(*server) string { return "/nothing" }},
	}
}

func settingsScenes() []scene {
	return []scene{
		{name: "settings", route: "/settings", set: func(*server) string { return "/settings" }},
	}
}

func keysScenes() []scene {
	return []scene{
		{name: "keys", route: "/keys", set: func(*server) string { return "/keys" }},
		{
			name: "keys-over-the-list", set: func(s *server) string {
				s.sampleDay()
				return "/inbox"
			},
			act: func(w *window) {
				w.press("?")
				w.see("the keys are shown", "document.querySelector('dialog[open] h1')")
			},
		},
	}
}

// onScenes runs a test on every scene on every engine, each on a hub of its own where hubs can be had.
func onScenes(t *testing.T, test func(s *server, sc scene)) {
	t.Helper()
	t.Parallel()
	for _, e := range engines(t) {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			for _, sc := range scenes() {
				t.Run(sc.name, func(t *testing.T) {
					t.Parallel()
					test(e.serve(t).alone(), sc)
				})
			}
		})
	}
}

// lasting gives an ask more time than tests mostly do, as people mostly have.
func lasting(d doc) { expires(time.Now().Add(47 * time.Minute))(d) }

// sampleAgent is an agent whose name looks like one.
func (s *server) sampleAgent(name string) *caller {
	s.t.Helper()
	if !s.shared {
		return s.agentNamed(name)
	}
	c := s.agent(strings.ReplaceAll(name, "/", "-"))
	if s.samples == nil {
		s.samples = map[string]string{}
	}
	s.samples[name] = c.id
	return c
}

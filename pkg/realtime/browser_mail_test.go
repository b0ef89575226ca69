//go:build browser

package realtime_test

import (
	"net/http"
	"net/url"
	"regexp"
	"testing"

	"github.com/mash-hub/mash/pkg/endpoint"
)

// sampleRuns lets a sample agent run twice, and returns it with its page and the ids of its sessions.
func (s *server) sampleRuns() (bot *caller, path string, sessions []string) {
	s.t.Helper()
	bot = s.sampleAgent("deploybot/dev-team")
	for _, label := range []string{"night build", "release of 4.2"} {
		made := bot.call(endpoint.SessionAdd, doc{"label": label, "run_id": "run-88", "project": "shop"}).is(http.StatusCreated)
		sessions = append(sessions, made.str("/session/id"))
	}
	over := bot.call(endpoint.SessionAdd, doc{"label": "bench"}).is(http.StatusCreated).str("/session/id")
	bot.call(endpoint.SessionClose, nil, over).is(http.StatusOK)
	return bot, s.sampleAgentPath(s.signedIn(), "deploybot/dev-team"), sessions
}

// sampleThread is the page of what a sample agent was told, with one of each end.
func (s *server) sampleThread() string {
	s.t.Helper()
	bot, path, sessions := s.sampleRuns()
	b := s.signedIn()
	told := func(form url.Values) { b.post(path+"/told", form).is(http.StatusSeeOther) }
	told(url.Values{"title": {"Use the staging key from now on"}, "session": {sessions[0]}})
	told(url.Values{"title": {"Do not deploy on Friday"}, "body": {"It is the release. Monday morning is fine:\n\n* not before nine\n* with Grace watching"}})
	bot.call(endpoint.InboxAck, doc{"ids": bot.fetches(), "note": "Friday is blocked."}).is(http.StatusOK)
	bot.call(endpoint.SessionClose, nil, sessions[0]).is(http.StatusOK)
	told(url.Values{"title": {"Which branch are you on?"}, "session": {sessions[1]}, "holds": {"hour"}})
	return path + "/told"
}

// sampleMail lets sample agents write to each other, and returns the ids of what they asked: answered and bounced.
func (s *server) sampleMail() (ids []string) {
	s.t.Helper()
	s.owner.call(endpoint.SettingsPut, doc{"inter_agent_enabled": true}).is(http.StatusNoContent)
	bot, planner := s.sampleAgent("deploybot/dev-team"), s.sampleAgent("planner")
	opens := func(c *caller, label string) string {
		return c.call(endpoint.SessionAdd, doc{"label": label}).is(http.StatusCreated).str("/session/id")
	}
	mine, theirs := opens(bot, "night build"), opens(planner, "plans")
	over := opens(bot, "bench")
	asks := func(title, to string) {
		ids = append(ids, planner.accepted(s.ask(set("/title", title), set("/to", to), set("/agent/session", theirs), lasting,
			set("/request", doc{"mode": "confirm"}))))
	}
	asks("May I plan a deploy for Friday?", bot.actor)
	asks("Is the bench free at nine?", bot.actor+"#"+over)
	bot.call(endpoint.SessionClose, nil, over).is(http.StatusOK)
	bot.get("/v1/inbox?session=" + mine).is(http.StatusOK)
	bot.resolve(ids[0], doc{"resolution": "answered", "value": "deny", "comment": "Friday is blocked."})
	bot.call(endpoint.InboxAck, doc{"ids": ids[:1], "note": "Friday is blocked."}).is(http.StatusOK)
	asks("Monday, then?", bot.actor)
	return ids
}

// mailScenes are what people told an agent, and what agents wrote to each other.
func mailScenes() []scene {
	return []scene{
		{name: "agent-told", route: "/agents/{ref}/told", set: (*server).sampleThread},
		{name: "agent-told-nothing", route: "/agents/{ref}/told", set: func(s *server) string {
			s.sampleAgent("planner")
			return s.sampleAgentPath(s.signedIn(), "planner") + "/told"
		}},
		{name: "agent-told-one", route: "/agents/{ref}/told/{directive}", set: func(s *server) string {
			path := s.sampleThread()
			links := regexp.MustCompile(path+"/dir_[0-9a-z]+").FindAllString(string(s.signedIn().page(path).body), -1)
			return links[1]
		}},
		{name: "mail", route: "/mail", set: func(s *server) string {
			s.sampleMail()
			return "/mail"
		}},
		{name: "mail-limited", route: "/mail", set: func(s *server) string {
			s.sampleMail()
			planner, spare := s.sampleAgent("crm-clerk"), s.sampleAgent("bookkeeper")
			for range 40 {
				if a := planner.submit(s.notify(set("/to", spare.actor), set("/title", "And you?"))); a.status == http.StatusTooManyRequests {
					break
				}
			}
			return "/mail"
		}},
		{name: "mail-none", route: "/mail", set: func(*server) string { return "/mail" }},
		{name: "agent-mail", route: "/agents/{ref}/mail", set: func(s *server) string {
			s.sampleMail()
			return s.sampleAgentPath(s.signedIn(), "planner") + "/mail"
		}},
		{name: "message-mail", route: "/inbox/{id}", set: func(s *server) string { return "/inbox/" + s.sampleMail()[0] }},
		{name: "message-mail-bounced", route: "/inbox/{id}", set: func(s *server) string { return "/inbox/" + s.sampleMail()[1] }},
		{name: "agent-senders", route: "/agents/{ref}", set: func(s *server) string {
			s.sampleMail()
			path := s.sampleAgentPath(s.signedIn(), "deploybot/dev-team")
			s.signedIn().post(path+"/senders", url.Values{"may": {"some"}, "sender": {"planner", "nightly-builder"}}).is(http.StatusSeeOther)
			return path
		}, act: func(w *window) {
			w.click("details.add summary")
			w.see("the list is open", `document.querySelector('details.add[open]')`)
		}},
	}
}

// stopScenes are the stop of an agent, the close of a session, and what is left.
func stopScenes() []scene {
	return []scene{
		{name: "agent-runs", route: "/agents/{ref}", set: func(s *server) string {
			_, path, _ := s.sampleRuns()
			return path
		}},
		{name: "agent-stop", route: "/agents/{ref}/stop", set: func(s *server) string {
			_, path, _ := s.sampleRuns()
			return path + "/stop"
		}},
		{name: "session-close", route: "/agents/{ref}/sessions/{session}/close", set: func(s *server) string {
			_, path, sessions := s.sampleRuns()
			return path + "/sessions/" + sessions[0] + "/close"
		}},
		{name: "agent-stopped", set: func(s *server) string {
			_, path, _ := s.sampleRuns()
			s.signedIn().post(path+"/stop", url.Values{"reason": {"It asks the planner the same thing over and over."}}).is(http.StatusSeeOther)
			return path
		}},
		{name: "agents-stopped", route: "/agents", set: func(s *server) string {
			_, path, _ := s.sampleRuns()
			s.sampleAgent("planner").call(endpoint.SessionAdd, doc{"label": "plans"}).is(http.StatusCreated)
			s.sampleAgent("crm-clerk")
			s.signedIn().post(path+"/stop", url.Values{}).is(http.StatusSeeOther)
			return "/agents"
		}},
	}
}

// TestBrowser_L12_AThreadSaysWhatWasFetchedByItself: what the agent does with its mailbox shows without a reload, and what is
// being typed meanwhile stays.
func TestBrowser_L12_AThreadSaysWhatWasFetchedByItself(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		path := s.sampleAgentPath(s.signedIn(), bot.id) + "/told"
		w := s.window(desktop)
		w.signIn()
		w.open(path)
		w.click("#title")
		w.press("Not on Friday\r")
		w.see("it waits", `document.querySelector('.thread .fate')?.textContent.includes('Waits in the mailbox')`)
		w.click("#title")
		w.press("And")
		ids := bot.fetches()
		w.see("it was fetched", `document.querySelector('.thread .fate').textContent.includes('Fetched')`)
		bot.call(endpoint.InboxAck, doc{"ids": ids}).is(http.StatusOK)
		w.see("it was acknowledged", `document.querySelector('.thread .fate').textContent.includes('Acknowledged')`)
		w.see("what was typed is there", `document.querySelector('#title').value === 'And'`)
	})
}

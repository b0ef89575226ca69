//go:build browser

package realtime_test

import (
	"net/http"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// keyedTo moves the mark of the list to the row of a message by j and k. Where the mark has just come there by itself, as the row
// before it went, a digit does nothing for a moment.
func (w *window) keyedTo(id string) {
	w.t.Helper()
	w.seeRow(openRow(id))
	for _, key := range []string{"k", "j"} { // up as far as it goes, then down
		for range 40 {
			w.press(key)
			if w.has(row(id) + ".on a:focus") {
				return
			}
		}
	}
	w.t.Fatalf("no key leads to %s", id)
}

// ended waits until a message has this status, and returns what its agent reads.
func (c *caller) ended(id, status string) *answer {
	c.t.Helper()
	c.until(status, func() bool { return c.read(id).at("/status") == status })
	return c.pull(id, "").is(http.StatusOK)
}

// TestBrowser_L7_KeysAloneAnswerInTheList: from the list, by the keyboard and nothing else.
func TestBrowser_L7_KeysAloneAnswerInTheList(t *testing.T) {
	onPages(t, func(s *server) {
		bot := s.agent("bot")
		w := s.inboxes(1, desktop)[0]

		s.run("an option", func() {
			id := bot.accepted(s.ask(choose))
			w.keyedTo(id)
			w.press("2")
			bot.ended(id, "answered").shows("/response/response/value", "hold")
			w.seeRow(row(id) + ".gone .verdict")
		})
		s.run("yes or no", func() {
			id := bot.accepted(s.ask())
			w.keyedTo(id)
			w.press("1")
			bot.ended(id, "answered").shows("/response/response/value", "approve")
		})
		s.run("own words", func() {
			id := bot.accepted(s.ask(choose, set("/request/permissions", doc{"allow_edit": true})))
			w.keyedTo(id)
			w.press("e")
			w.press("after lunch, 1 o’clock") // j, k, x, 1 and others are only letters now
			w.press(kb.Enter, ctrl)
			bot.ended(id, "answered").shows("/response/response/value", "after lunch, 1 o’clock", "/response/response/edited", true)
		})
		s.run("decline with a comment", func() {
			id := bot.accepted(s.ask(choose))
			w.keyedTo(id)
			w.press("x")
			w.press("not today")
			s.read(id).shows("/status", "open")
			w.press(kb.Enter)
			bot.ended(id, "declined").shows("/response/response/comment", "not today")
		})
		s.run("decline taken back", func() {
			id := bot.accepted(s.ask(choose))
			w.keyedTo(id)
			w.press("x")
			w.press(kb.Escape)
			w.press(kb.Enter) // which opens the message, as the row has the focus
			w.seePage("/inbox/" + id)
			s.read(id).shows("/status", "open")
			w.isLive()
			w.press("u")
			w.seePage("/inbox")
			w.isLive()
			s.owner.answers(id, "ship").is(http.StatusOK)
		})
	})
}

// TestBrowser_L7_KeysAloneAnswerOnThePage is the same for what a row of the list has no room for.
func TestBrowser_L7_KeysAloneAnswerOnThePage(t *testing.T) {
	onPages(t, func(s *server) {
		bot := s.agent("bot")
		w := s.inboxes(1, desktop)[0]

		s.run("a form", func() {
			id := bot.accepted(s.ask(fillIn))
			w.keyedTo(id)
			w.press("o")
			w.seePage("/inbox/" + id)
			w.isLive()
			w.press("e") // to the first field
			w.press("because")
			w.tabTo("button[value=send]")
			w.press(kb.Enter)
			bot.ended(id, "answered").shows("/response/response/value", doc{"reason": "because"})
			w.seePage("/inbox")
			w.isLive()
		})
		s.run("a long choice", func() {
			id := bot.accepted(s.ask(sampleMany))
			w.keyedTo(id)
			w.press("1") // the row has no options to press
			w.press("o")
			w.seePage("/inbox/" + id)
			w.isLive()
			w.press("2")
			bot.ended(id, "answered").shows("/response/response/value", "tue")
			w.seePage("/inbox")
			w.isLive()
		})
		s.run("a task", func() {
			id := bot.accepted(s.task(set("/action/checklist", []doc{{"text": "one"}})))
			w.keyedTo(id)
			w.press(kb.Enter)
			w.seePage("/inbox/" + id)
			w.isLive()
			w.tabTo("input[type=checkbox]")
			w.press(" ")
			w.tabTo("button[value=complete]")
			w.press(kb.Enter)
			bot.ended(id, "completed").shows("/response/response/checklist", []doc{{"text": "one", "done": true}})
		})
	})
}

// ctrl is the modifier of the Ctrl key.
const ctrl = kb.ModifierCtrl

// tabTo presses Tab until an element of a selector has the focus.
func (w *window) tabTo(css string) {
	w.t.Helper()
	for range 60 {
		if w.has(":is(" + css + "):focus") {
			return
		}
		w.press(kb.Tab)
	}
	w.t.Fatalf("Tab does not lead to %s", css)
}

// TestBrowser_L7_KeysDoNothingByAccident: not with a modifier, not while typing, not twice, and not to a row that has just
// come to be the one meant.
func TestBrowser_L7_KeysDoNothingByAccident(t *testing.T) {
	onPages(t, func(s *server) {
		bot := s.agent("bot")
		w := s.inboxes(1, desktop)[0]
		first, second := bot.accepted(s.ask(lasting, choose)), bot.accepted(s.ask(lasting, choose))
		w.keyedTo(second)
		w.keyedTo(first)
		w.press("1", ctrl)
		w.press("9")
		s.read(first).shows("/status", "open")
		w.press("11") // twice, faster than anybody reads
		bot.ended(first, "answered")
		w.seeRow(row(first) + ".gone")
		s.read(second).shows("/status", "open")
		w.press("?")
		w.see("the keys are shown", "document.querySelector('dialog[open]')")
		w.press("1")
		w.press(kb.Escape)
		w.see("the keys are gone", "!document.querySelector('dialog[open]')")
		s.read(second).shows("/status", "open")
		s.owner.answers(second, "ship").is(http.StatusOK)
	})
}

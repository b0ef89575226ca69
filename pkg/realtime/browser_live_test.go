//go:build browser

package realtime_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// isLive waits until the window is told of what happens, or looks by itself.
func (w *window) isLive() {
	w.t.Helper()
	w.see("the page is live", "document.documentElement.dataset.live === 'on'")
}

// row is the row of a message, as a selector.
func row(id string) string { return fmt.Sprintf(`.row[data-id="%s"]`, id) }

// open is a row that can still be answered.
func openRow(id string) string { return row(id) + ":not(.gone)" }

func (w *window) has(css string) bool {
	w.t.Helper()
	return eval[bool](w, fmt.Sprintf("Boolean(document.querySelector(`%s`))", css))
}

func (w *window) seeRow(css string) {
	w.t.Helper()
	w.see(css, fmt.Sprintf("document.querySelector(`%s`)", css))
}

func (w *window) seeNo(css string) {
	w.t.Helper()
	w.see("no "+css, fmt.Sprintf("!document.querySelector(`%s`)", css))
}

func (w *window) text(css string) string {
	w.t.Helper()
	return eval[string](w, fmt.Sprintf("document.querySelector(`%s`)?.textContent ?? ''", css))
}

// inboxes are windows of the owner on the list, live.
func (s *server) inboxes(n int, v view) []*window {
	s.t.Helper()
	all := s.windows(n, v)
	for _, w := range all {
		w.signIn()
		w.open("/inbox")
		w.isLive()
	}
	return all
}

// TestBrowser_L5_TwoPeopleRace: one ask in two browsers; who comes second is told what the first answer was, by whom and
// when, and the row leaves the other window by itself.
func TestBrowser_L5_TwoPeopleRace(t *testing.T) {
	onPages(t, func(s *server) {
		bot := s.agent("bot")
		both := s.inboxes(2, desktop)
		id := bot.accepted(s.ask(choose))
		for _, w := range both {
			w.seeRow(openRow(id))
		}
		// Both are pressed at the same moment, before either window can know.
		pressed := make(chan error, 2)
		for i, w := range both {
			go func() {
				pressed <- chromedp.Do(w.ctx, chromedp.Evaluate[chromedp.Void](
					fmt.Sprintf("document.querySelector(`%s`).click()", quickButton(id, i))))
			}()
		}
		for range both {
			if err := <-pressed; err != nil {
				s.t.Fatal(err)
			}
		}
		var verdicts []string
		for _, w := range both {
			w.seeRow(row(id) + ".gone .verdict")
			verdicts = append(verdicts, w.text(row(id)+" .verdict"))
		}
		won := bot.pull(id, "").is(http.StatusOK).str("/response/response/value")
		label := map[string]string{"ship": "Ship to prod now", "hold": "Hold"}[won]
		lost := 0
		for _, v := range verdicts {
			if !contains(v, "“"+label+"”", "by you") {
				s.t.Errorf("the answer was %q, and a window says %q", label, v)
			}
			if contains(v, "was not sent") {
				lost++
			}
		}
		if lost > 1 {
			s.t.Errorf("both answers count as late: %q", verdicts)
		}
		for _, w := range both {
			w.open("/inbox")
			if w.has(row(id)) {
				s.t.Error("the answered ask still waits")
			}
		}
	})
}

// TestBrowser_L5_AnAnsweredAskLeavesEveryWindow: answered in one window, or by an agent, it is gone in the other at once.
func TestBrowser_L5_AnAnsweredAskLeavesEveryWindow(t *testing.T) {
	onPages(t, func(s *server) {
		bot := s.agent("bot")
		both := s.inboxes(2, phone)
		id, other := bot.accepted(s.ask(choose)), bot.accepted(s.ask())
		for _, w := range both {
			w.seeRow(openRow(id))
			w.seeRow(openRow(other))
		}
		both[0].click(quickButton(id, 0))
		both[0].seeRow(row(id) + ".gone .verdict")
		both[1].seeNo(row(id))
		s.owner.answers(other, "approve").is(http.StatusOK)
		for _, w := range both {
			w.seeNo(openRow(other))
		}
	})
}

// TestBrowser_NothingMovesUnderThePointer: a row that the mouse is on stays where it is while others come and go, and says
// so when it has ended itself, until the next click elsewhere.
func TestBrowser_NothingMovesUnderThePointer(t *testing.T) {
	onPages(t, func(s *server) {
		bot := s.agent("bot")
		first, mine, last := bot.accepted(s.ask(lasting)), bot.accepted(s.ask(lasting, choose)), bot.accepted(s.ask(lasting))
		for _, id := range []string{first, mine, last} {
			s.until("it is listed", func() bool { return s.waits(id) })
		}
		w := s.inboxes(1, desktop)[0]
		eval[bool](w, fmt.Sprintf("document.querySelector(`%s`).scrollIntoView({block: 'center'}), true", row(mine))) // others may be above
		box := eval[struct{ X, Y float64 }](w, fmt.Sprintf(
			"(r => ({X: r.x + r.width / 2, Y: r.y + r.height / 2}))(document.querySelector(`%s`).getBoundingClientRect())", quickButton(mine, 1)))
		w.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, box.X, box.Y))
		under := func() string {
			return eval[string](w, fmt.Sprintf("document.elementFromPoint(%f, %f).closest('.row')?.dataset.id + ' ' + "+
				"document.querySelector(`%s`).getBoundingClientRect().top", box.X, box.Y, row(mine)))
		}
		before := under()

		urgent := bot.accepted(s.ask(set("/priority", "urgent"), expires(time.Now().Add(time.Minute))))
		w.seeRow(openRow(urgent))
		same(s.t, "what is under the pointer when a row comes above", under(), before)
		s.owner.answers(first, "approve").is(http.StatusOK)
		w.seeRow(row(first) + ".gone")
		same(s.t, "what is under the pointer when a row above ends", under(), before)
		s.owner.answers(last, "approve").is(http.StatusOK)
		w.seeNo(row(last)) // below: there is nothing to hold
		same(s.t, "what is under the pointer when a row below ends", under(), before)

		s.owner.answers(mine, "hold").is(http.StatusOK)
		w.seeRow(row(mine) + ".gone .verdict")
		same(s.t, "what is under the pointer when it ends itself", under(), before)
		if v := w.text(row(mine) + " .verdict"); !contains(v, "Answered “Hold”", "by you", "just now") {
			s.t.Errorf("the row says %q", v)
		}
		w.do(chromedp.MouseClickXY(box.X, box.Y)) // on what was a button
		w.do(chromedp.MouseClickXY(5, 5))         // elsewhere
		w.seeNo(row(mine))
		w.seeNo(row(first))
		w.see("the urgent one comes first", fmt.Sprintf("document.querySelector('.row').dataset.id === %q", urgent))
	})
}

// TestBrowser_L5_TheOpenMessageSaysThatItEnded: answered elsewhere, its form is closed and what was typed stays.
func TestBrowser_L5_TheOpenMessageSaysThatItEnded(t *testing.T) {
	onPages(t, func(s *server) {
		bot := s.agent("bot")
		w := s.window(desktop)
		w.signIn()
		for _, ask := range []doc{s.ask(choose), s.ask(fillIn)} {
			id := bot.accepted(ask)
			w.open("/inbox/" + id)
			w.isLive()
			w.do(chromedp.SendKeys(chromedp.CSS("article textarea[name=comment]"), "half a thought"))
			s.owner.cancelled(bot, id)
			w.see("it says so", "/Withdrawn, by agent/.test(document.querySelector('article .verdict')?.textContent)")
			w.see("the buttons are off", "[...document.querySelectorAll('#answer button, #form button')].every(b => b.disabled)")
			same(s.t, "what was typed", eval[string](w, "document.querySelector('textarea[name=comment]').value"), "half a thought")
			w.see("the story goes on", "/Withdrawn/.test(document.querySelector('ol.events').textContent)")
			w.see("the focus is where it was", "document.activeElement.name === 'comment'")
		}
	})
}

// cancelled has an agent withdraw its message.
func (c *caller) cancelled(by *caller, id string) { c.t.Helper(); by.cancel(id).is(http.StatusOK) }

// TestBrowser_WhatIsTypedSurvivesAnUpdate: text, focus and place, while others come and go.
func TestBrowser_WhatIsTypedSurvivesAnUpdate(t *testing.T) {
	onPages(t, func(s *server) {
		bot := s.agent("bot")
		var ids []string
		for range 8 {
			ids = append(ids, bot.accepted(s.ask(lasting, choose)))
		}
		mine := ids[6]
		w := s.inboxes(1, phone)[0]
		w.seeRow(openRow(ids[7]))
		w.click(row(mine) + " summary")
		w.do(chromedp.SendKeys(chromedp.CSS(row(mine)+" textarea[name=comment]"), "unfinished"))
		place := func() float64 {
			return eval[float64](w, fmt.Sprintf("Math.round(document.querySelector(`%s`).getBoundingClientRect().top)", row(mine)))
		}
		before := place()
		urgent := bot.accepted(s.ask(set("/priority", "urgent"), choose))
		w.seeRow(openRow(urgent))
		s.owner.answers(ids[0], "ship").is(http.StatusOK)
		w.seeNo(openRow(ids[0]))
		same(s.t, "where the row is", place(), before)
		same(s.t, "what is typed", eval[string](w, "document.activeElement.value"), "unfinished")
		s.owner.answers(mine, "ship").is(http.StatusOK)
		w.seeRow(row(mine) + ".gone .verdict")
		same(s.t, "what is typed, ended elsewhere", eval[string](w, "document.activeElement.value"), "unfinished")
	})
}

// TestBrowser_L2_TheLinkIsSignedInAlready: opened once in a browser, it shows the list.
func TestBrowser_L2_TheLinkIsSignedInAlready(t *testing.T) {
	onPages(t, func(s *server) {
		w := s.window(phone)
		w.signIn()
		w.see("the list is there", "document.querySelector('#waiting')")
		w.isLive()
	})
}

// TestBrowser_SignedOutHereIsSignedOutThere: another window of the session shows within seconds how to sign in.
func TestBrowser_SignedOutHereIsSignedOutThere(t *testing.T) {
	onPages(t, func(s *server) {
		w := s.inboxes(1, desktop)[0]
		csrf := eval[string](w, "fetch('settings').then(r => r.text()).then(t => t.match(/name=\"csrf\" value=\"([0-9a-f]+)\"/)[1])")
		eval[bool](w, fmt.Sprintf("fetch('signout', {method: 'POST', body: new URLSearchParams({csrf: %q})}); true", csrf))
		w.see("how to sign in", "document.querySelector('h1')?.textContent.includes('not signed in')")
	})
}

//go:build browser

package realtime_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// quickButton is the button of an option in the row of a message.
func quickButton(id string, option int) string {
	return fmt.Sprintf(`form[action$="/inbox/%s"] button[value="option:%d"]`, id, option)
}

// rowLink is the link of a message's row.
func rowLink(id string) string { return fmt.Sprintf(`.rows a[href$="/inbox/%s"]`, id) }

// TestBrowser_L3_OneClickInTheListAnswersWithoutScript: one click from the list, and no page of the message in between.
func TestBrowser_L3_OneClickInTheListAnswersWithoutScript(t *testing.T) {
	onPages(t, func(s *server) {
		bot := s.agent("bot")
		id := bot.accepted(s.ask(choose))
		s.until("it is listed", func() bool { return s.waits(id) })
		w := s.window(phone.withoutScript())
		w.signIn()
		w.open("/inbox")
		w.clickThrough(quickButton(id, 1))
		bot.pull(id, "").is(http.StatusOK).shows("/status", "answered", "/response/response/value", "hold")
		same(s.t, "where one is then", w.at(), "/inbox?done="+id)
		if eval[bool](w, fmt.Sprintf("Boolean(document.querySelector(`%s`))", quickButton(id, 1))) {
			s.t.Error("the list still offers to answer it")
		}
	})
}

// TestBrowser_L7_TheKeyboardReachesARow: by the Tab key alone, which shows where one is.
func TestBrowser_L7_TheKeyboardReachesARow(t *testing.T) {
	onPages(t, func(s *server) {
		id := s.agent("bot").accepted(s.ask(choose))
		s.until("it is listed", func() bool { return s.waits(id) })
		w := s.window(desktop)
		w.signIn()
		w.open("/inbox")
		for range 200 {
			w.press(kb.Tab)
			if eval[bool](w, fmt.Sprintf("document.activeElement.matches(`%s`)", rowLink(id))) {
				break
			}
		}
		if outline := eval[string](w, "getComputedStyle(document.activeElement, '::after').outlineStyle"); outline != "solid" {
			s.t.Errorf("the outline of what has the focus is %s", outline)
		}
		w.leads(keyPress(kb.Enter))
		same(s.t, "where Enter leads", w.at(), "/inbox/"+id)
		w.see("the message is there", "document.querySelector('article h1')")
		w.click("article h1")
		w.click("a[href='#answer'], #answer button")
	})
}

// TestBrowser_L3_OneTapInTheListAnswers: with scripts not even the page changes; pressed twice, it is answered once.
func TestBrowser_L3_OneTapInTheListAnswers(t *testing.T) {
	onPages(t, func(s *server) {
		bot := s.agent("bot")
		w := s.inboxes(1, phone)[0]
		id := bot.accepted(s.ask(choose))
		w.seeRow(openRow(id))
		eval[bool](w, "window.clicks = 0, addEventListener('click', () => clicks++, true), window.sameDocument = true")
		w.click(quickButton(id, 1))
		w.seeRow(row(id) + ".gone .verdict")
		bot.ended(id, "answered").shows("/response/response/value", "hold")
		same(s.t, "clicks", eval[int](w, "clicks"), 1)
		if !eval[bool](w, "Boolean(window.sameDocument)") {
			s.t.Error("another page was loaded")
		}

		twice := bot.accepted(s.ask(choose))
		w.seeRow(openRow(twice))
		w.do(chromedp.DoubleClick(chromedp.CSS(quickButton(twice, 0))))
		bot.ended(twice, "answered").shows("/response/response/value", "ship")
		w.seeRow(row(twice) + ".gone .verdict")
		if v := w.text(row(twice) + " .verdict"); !contains(v, "Answered “Ship to prod now”", "by you") || contains(v, "not sent") {
			s.t.Errorf("after two clicks the row says %q", v)
		}
	})
}

// TestBrowser_L11_OwnWordsAndDeclineFromTheList: from the same place, with and without scripts.
func TestBrowser_L11_OwnWordsAndDeclineFromTheList(t *testing.T) {
	for _, v := range []view{phone, phone.withoutScript()} {
		t.Run(v.String(), func(t *testing.T) {
			onPages(t, func(s *server) {
				bot := s.agent("bot")
				edit := set("/request/permissions", doc{"allow_edit": true})
				words, no := bot.accepted(s.ask(choose, edit)), bot.accepted(s.ask(choose))
				for _, id := range []string{words, no} {
					s.until("it is listed", func() bool { return s.waits(id) })
				}
				w := s.window(v)
				w.signIn()
				w.open("/inbox")
				press := w.clickThrough
				if !v.noScript {
					press = w.click
					w.isLive()
				}
				w.click(row(words) + " summary")
				w.do(chromedp.SendKeys(chromedp.CSS(row(words)+" textarea[name=other]"), "tomorrow"))
				w.do(chromedp.SendKeys(chromedp.CSS(row(words)+" textarea[name=comment]"), "sorry"))
				press(row(words) + " button[value=other]")
				bot.ended(words, "answered").shows("/response/response/value", "tomorrow", "/response/response/comment", "sorry")
				if !v.noScript {
					w.seeRow(row(words) + ".gone .verdict") // which moves what is below it
				}

				w.click(row(no) + " summary")
				w.do(chromedp.SendKeys(chromedp.CSS(row(no)+" textarea[name=comment]"), "never"))
				press(row(no) + " button[value=decline]")
				bot.ended(no, "declined").shows("/response/response/comment", "never")
			})
		})
	}
}

// TestBrowser_L6_EverythingToDecideIsOnThePhone: question, context and every option, without sideways scrolling, each
// option at least 44 px high and within the window.
func TestBrowser_L6_EverythingToDecideIsOnThePhone(t *testing.T) {
	onPages(t, func(s *server) {
		id := s.agent("bot").accepted(s.ask(sampleShip, set("/request/options", []doc{
			{"value": "ship", "label": "Ship now"}, {"value": "hold", "label": "Hold"}, {"value": "ask", "label": "Ask " + strings.Repeat("somebody else ", 8)},
		})))
		s.until("it is listed", func() bool { return s.waits(id) })
		w := s.window(phone)
		w.signIn()
		for path, css := range map[string]string{
			"/inbox":       row(id) + " h3, " + row(id) + " .unread, " + row(id) + " button[value^='option:']",
			"/inbox/" + id: "article h1, article .prose, article .part, article button[value^='option:']",
		} {
			w.open(path)
			for _, box := range eval[[]struct {
				What                       string
				Left, Right, Width, Height float64
			}](w, fmt.Sprintf("[...document.querySelectorAll(`%s`)].map(e => { const b = e.getBoundingClientRect(); "+
				"return {What: e.tagName + ' ' + e.className, Left: b.left, Right: b.right, Width: b.width, Height: b.height} })", css)) {
				if box.Left < 0 || box.Right > 390 {
					s.t.Errorf("%s: %s reaches from %.0f to %.0f px", path, box.What, box.Left, box.Right)
				}
				if strings.HasPrefix(box.What, "BUTTON") && (box.Height < 44 || box.Width < 44) {
					s.t.Errorf("%s: %s is %.0f × %.0f px", path, box.What, box.Width, box.Height)
				}
			}
			if wide := eval[int](w, "document.documentElement.scrollWidth"); wide > 390 {
				s.t.Errorf("%s is %d px wide", path, wide)
			}
			same(s.t, "options on "+path, eval[int](w, fmt.Sprintf("document.querySelectorAll(`%s`).length",
				strings.Split(css, ", ")[len(strings.Split(css, ", "))-1])), 3)
		}
	})
}

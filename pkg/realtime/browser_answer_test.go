//go:build browser

package realtime_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// quickButton is the button of an option in the row of a message.
func quickButton(id string, option int) string {
	return fmt.Sprintf(`form[action="/inbox/%s"] button[value="option:%d"]`, id, option)
}

// rowLink is the link of a message's row.
func rowLink(id string) string { return fmt.Sprintf(`.rows a[href="/inbox/%s"]`, id) }

// TestBrowser_L3_OneClickInTheListAnswersWithoutScript: one click from the list, and no page of the message in between.
func TestBrowser_L3_OneClickInTheListAnswersWithoutScript(t *testing.T) {
	onEngines(t, func(s *server) {
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
	onEngines(t, func(s *server) {
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

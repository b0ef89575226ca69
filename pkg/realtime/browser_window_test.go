//go:build browser

package realtime_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// maxWindows is how many windows are open at a time: as many as the processors of a small machine can draw. On AWS, whose
// windows mostly wait until they look again, there may be as many besides.
const maxWindows = 2

// room is where windows are.
type room struct {
	places chan struct{}
	taking sync.Mutex // whoever wants two places gets both before another gets one
}

var atHome, onAWS = &room{places: make(chan struct{}, maxWindows)}, &room{places: make(chan struct{}, maxWindows)}

// take takes so many places and returns what gives them back.
func (r *room) take(n int) (giveBack func()) {
	r.taking.Lock()
	defer r.taking.Unlock()
	for range n {
		r.places <- struct{}{}
	}
	return func() {
		for range n {
			<-r.places
		}
	}
}

// window is a window of a real browser, with cookies of its own.
type window struct {
	*server
	ctx context.Context // in which chromedp keeps its tab
}

// view is how large a window is, whether it is dark, and whether scripts run in it.
type view struct {
	width, height int64
	phone         bool
	dark          bool
	noScript      bool
}

// The two sizes that pages are looked at in.
var (
	phone   = view{width: 390, height: 844, phone: true}
	desktop = view{width: 1280, height: 800}
)

func (v view) inTheDark() view { v.dark = true; return v }

func (v view) withoutScript() view { v.noScript = true; return v }

func (v view) String() string {
	words := []string{"desktop", "light"}
	if v.phone {
		words[0] = "phone"
	}
	if v.dark {
		words[1] = "dark"
	}
	if v.noScript {
		words = append(words, "without script")
	}
	return strings.Join(words, " ")
}

// window opens one window with nobody signed in.
func (s *server) window(v view) *window {
	s.t.Helper()
	return s.windows(1, v)[0]
}

// windows opens so many windows at once, each for itself. A test asks once, for all it needs: places are few.
func (s *server) windows(n int, v view) []*window {
	s.t.Helper()
	browser, err := startChromium()
	if err != nil {
		s.t.Fatal(err)
	}
	at := atHome
	if s.shared {
		at = onAWS
	}
	s.t.Cleanup(at.take(n))
	var all []*window
	for range n {
		ctx, end := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
		s.t.Cleanup(end)
		w := &window{server: s, ctx: ctx}
		w.do(chromedp.Navigate("about:blank"))
		w.as(v)
		s.t.Cleanup(w.tell)
		all = append(all, w)
	}
	return all
}

// tell says what stands in the window of a test that has failed.
func (w *window) tell() {
	if w.t.Failed() {
		w.t.Logf("at %s:\n%s", w.at(), eval[string](w, "document.body.innerText"))
	}
}

// do runs steps in the window, and gives up after the patience of a test.
func (w *window) do(steps ...chromedp.Action[chromedp.Void]) {
	w.t.Helper()
	if len(steps) == 0 {
		return
	}
	// The first steps bind the tab to their context, which therefore must not end by itself.
	done := make(chan error, 1)
	go func() { done <- chromedp.Do(w.ctx, steps...) }()
	select {
	case err := <-done:
		if err != nil {
			w.t.Fatal(err)
		}
	case <-time.After(patience):
		w.t.Fatalf("the browser did not do that in %s, at %s", patience, w.at())
	}
}

// as makes the window another one to look at.
func (w *window) as(v view) {
	w.t.Helper()
	scheme := "light"
	if v.dark {
		scheme = "dark"
	}
	size := chromedp.EmulateViewport(v.width, v.height)
	if v.phone {
		size = chromedp.EmulateViewport(v.width, v.height, chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulateScale(2))
	}
	w.do(size,
		command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
		}}),
		w.scripts(!v.noScript))
}

// scripts lets the scripts of pages run, or not. What a test evaluates runs either way.
func (w *window) scripts(run bool) chromedp.Action[chromedp.Void] {
	return command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !run})
}

// command makes an action of a command of the protocol.
func command[P, R any](c cdp.Command[P, R], p P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, p)
		return err
	})
}

// open shows the page at a path.
func (w *window) open(path string) {
	w.t.Helper()
	w.do(chromedp.Navigate(w.url + path))
}

// signIn opens a fresh link of the owner's.
func (w *window) signIn() {
	w.t.Helper()
	w.open(w.link())
}

// at is the path that the window shows, below that of the hub.
func (w *window) at() string {
	w.t.Helper()
	return strings.TrimPrefix(eval[string](w, `location.pathname + location.search`), w.base)
}

// seePage waits until the window shows the page at a path.
func (w *window) seePage(path string) {
	w.t.Helper()
	w.see("the page "+path, fmt.Sprintf("location.pathname === %q", w.base+path))
}

// eval returns the value of an expression in the page.
func eval[T any](w *window, js string) T {
	w.t.Helper()
	value, err := chromedp.Run(w.ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
	if err != nil {
		w.t.Fatalf("%s: %v", js, err)
	}
	return value
}

// see waits until an expression of the page is true.
func (w *window) see(what, js string) {
	w.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); ; <-tick.C {
		ok, err := chromedp.Run(w.ctx, chromedp.Evaluate[bool]("Boolean("+js+")"))
		if err == nil && ok {
			return
		}
		if time.Now().After(end) { // a page that is just being left has no answer, either
			w.t.Fatalf("%s: not after %s, at %s (%v)", what, patience, w.at(), err)
		}
	}
}

// click clicks the first element of a selector, which must be visible, with the mouse, or a finger on a phone. Rows that
// have just moved up take no click yet.
func (w *window) click(css string) {
	w.t.Helper()
	w.see("the rows stand still", "!('moved' in document.documentElement.dataset)")
	w.do(chromedp.Click(chromedp.CSS(css), chromedp.NodeVisible))
}

// clickThrough clicks and waits for the page that this leads to.
func (w *window) clickThrough(css string) {
	w.t.Helper()
	w.leads(chromedp.Click(chromedp.CSS(css), chromedp.NodeVisible))
}

// leads does what leads to another page, and waits until that is there.
func (w *window) leads(step chromedp.Action[chromedp.Void]) {
	w.t.Helper()
	done := make(chan error, 1)
	go func() {
		_, err := chromedp.Run(w.ctx, chromedp.WaitEvent(page.LoadEventFired, nil, step))
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			w.t.Fatal(err)
		}
	case <-time.After(patience):
		w.t.Fatalf("no other page after %s, at %s", patience, w.at())
	}
}

// press presses keys one after the other, as chromedp writes them: "j", kb.Enter.
func (w *window) press(keys string, modifiers ...chromedp.Modifier) {
	w.t.Helper()
	w.do(keyPress(keys, modifiers...))
}

// keyPress presses keys as a keyboard does: a page that takes a key for itself leaves nothing of it to a field.
// chromedp.KeyEvent sends the character either way.
func keyPress(keys string, modifiers ...chromedp.Modifier) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		for _, r := range keys {
			events := kb.Encode(r)
			down, up := events[0], events[len(events)-1]
			down.Type, down.Text, down.UnmodifiedText = input.DispatchKeyEventTypeKeyDown, events[len(events)-2].Text, events[len(events)-2].UnmodifiedText
			for _, e := range []*input.DispatchKeyEventParams{down, up} {
				for _, m := range modifiers {
					e.Modifiers |= int64(m)
				}
				if _, err := cdp.Call(ctx, t, input.DispatchKeyEvent, *e); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// screenshot is a picture of the whole page, in a window that is as high as it.
func (w *window) screenshot(v view) []byte {
	w.t.Helper()
	tall := v
	tall.height = max(v.height, eval[int64](w, "document.documentElement.scrollHeight"))
	w.as(tall)
	png, err := chromedp.Run(w.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		w.t.Fatal(err)
	}
	w.as(v)
	return png
}

func contains(text string, parts ...string) bool {
	return !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(text, p) })
}

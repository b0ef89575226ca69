//go:build browser

package realtime_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"

	"github.com/chromedp/chromedp"
)

// chromium is the one browser of all tests. It starts when the first of them wants it and ends with the last.
var chromium struct {
	start sync.Once
	ctx   context.Context // in which chromedp keeps it
	end   []func()
	err   error
}

// startChromium returns the context in which chromedp knows the browser.
func startChromium() (context.Context, error) {
	chromium.start.Do(func() { chromium.err = launchChromium() })
	return chromium.ctx, chromium.err
}

// aMouse lets pages find the mouse that a desktop has.
const aMouse = "primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4"

func launchChromium() error {
	path, err := chromiumPath()
	if err != nil {
		return err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.Flag("hide-scrollbars", true),
		chromedp.Flag("force-color-profile", "srgb"),
		chromedp.Flag("blink-settings", aMouse),
		chromedp.Flag("disable-features", "HttpsUpgrades,Translate"),
	)
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium has none for root, and visits nobody but us
	}
	allocator, endAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, end := chromedp.NewContext(allocator)
	chromium.ctx = ctx
	chromium.end = []func(){func() { _ = chromedp.Cancel(ctx) }, end, endAllocator}
	if err := chromedp.Do(ctx); err != nil {
		return fmt.Errorf("start %s: %w", path, err)
	}
	return nil
}

// chromiumPath finds the browser: MASH_CHROMIUM, or one of the usual names.
func chromiumPath() (string, error) {
	if path := os.Getenv("MASH_CHROMIUM"); path != "" {
		return path, nil
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("there is no Chromium here (Debian: chromium), and MASH_CHROMIUM names none")
}

// endChromium ends the browser, if there is one.
func endChromium() {
	for _, end := range chromium.end {
		end()
	}
}

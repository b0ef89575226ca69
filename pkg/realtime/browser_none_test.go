//go:build !browser

package realtime_test

// endChromium has nothing to end where no test uses a browser.
func endChromium() {}

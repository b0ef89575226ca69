//go:build bench

package localhub_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// TestBench_AnAskAppearsInAnOpenWindow measures from the sending of an ask until a page that was told of it has fetched the
// list that shows it. What a browser needs to draw it comes on top.
func TestBench_AnAskAppearsInAnOpenWindow(t *testing.T) {
	server := startBench(t, "hub")
	var w loadResult
	output(t, server, &w, "live")
	fmt.Printf("ask to open window: p50 %.2f ms, p99 %.2f ms\n", w.P50, w.P99)
	if w.P50 >= 50 {
		t.Errorf("an ask appears in an open window in %.2f ms at the median, want under 50, and 200 with its drawing", w.P50)
	}
}

// benchLive opens the inbox as a browser does, submits asks one by one, and prints how long each took to be on its page.
func benchLive() {
	jar, err := cookiejar.New(nil)
	die(err)
	browser, agent := benchClient(4), os.Getenv("BENCH_AGENT")
	browser.Jar = jar
	var link struct{ URL string }
	die(json.Unmarshal(post(browser, "/v1/links", os.Getenv("BENCH_PERSON"), nil, http.StatusCreated), &link))
	fetch := func(url string) string {
		req, err := http.NewRequest(http.MethodGet, url, nil)
		die(err)
		return string(do(browser, req, http.StatusOK))
	}
	fetch(link.URL)
	base := os.Getenv("BENCH_URL")
	looks := make(chan struct{}, 1000)
	go listen(browser, base+"/live/events", looks)
	<-looks // as it begins
	var all []time.Duration
	for i := range 100 {
		title := fmt.Sprintf("Ask %d of many", i)
		body := strings.Replace(string(benchAsk(ma2h.NewTail())), "Ship build 4127 to production?", title, 1)
		sent := time.Now()
		var ack struct{ ID string }
		die(json.Unmarshal(post(browser, "/v1/messages", agent, []byte(body), http.StatusAccepted), &ack))
		for range looks {
			if strings.Contains(fetch(base+"/inbox?live=1"), title) {
				break
			}
		}
		all = append(all, time.Since(sent))
		post(browser, "/v1/messages/"+ack.ID+"/cancel", agent, nil, http.StatusOK)
		<-looks // that it was cancelled
	}
	die(json.NewEncoder(os.Stdout).Encode(summarise(all)))
}

// listen says so each time that a stream asks its page to look.
func listen(browser *http.Client, url string, looks chan<- struct{}) {
	resp, err := browser.Get(url)
	die(err)
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		die(fmt.Errorf("the stream is %s", resp.Status))
	}
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if lines.Text() == "event: look" {
			looks <- struct{}{}
		}
	}
	die(io.ErrUnexpectedEOF)
}

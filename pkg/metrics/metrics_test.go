package metrics_test

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/metrics"
)

func TestHandler_ShowsWhatWasCounted(t *testing.T) {
	t.Parallel()
	m := metrics.New("v1.2.3")
	m.Began()
	m.Began()
	m.Request("submit", 202, time.Millisecond)
	m.Submitted("ask")
	m.Ended("ask", "answered")
	m.Push("timeout", time.Second)
	m.Due(-time.Second, nil) // a clock that went back
	m.Due(time.Minute, errors.New("failed"))
	m.Sweep(nil)
	m.Group(3, time.Millisecond)
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{
		`mash_build_info{version="v1.2.3"} 1`, "mash_http_requests_in_flight 1",
		`mash_http_request_duration_seconds_count{endpoint="submit",status="202"} 1`,
		`mash_messages_submitted_total{type="ask"} 1`, `mash_messages_ended_total{outcome="answered",type="ask"} 1`,
		`mash_push_attempts_total{result="timeout"} 1`, "mash_push_duration_seconds_sum 1\n",
		"mash_due_lag_seconds_sum 60\n", `mash_due_total{result="done"} 1`, `mash_due_total{result="failed"} 1`,
		`mash_sweeps_total{result="done"} 1`, "mash_store_group_commits_sum 3\n",
	} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("the metrics have no %s", want)
		}
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		metrics.New("v1")
	}
}

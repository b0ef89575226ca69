package main

import (
	"io"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// metrics returns what the hub counts.
func (h *hubProcess) metrics() string {
	h.t.Helper()
	_, text := fetched(h.t, h.url+"/metrics")
	return text
}

func fetched(t *testing.T, url string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := hubClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func TestMetrics_CountWhatTheHubDoes(t *testing.T) {
	t.Parallel()
	r := newSlowReceiver(t)
	close(r.let)
	h := startHub(t, filepath.Join(t.TempDir(), "data"), "--allow-callback", r.address)
	token, _ := h.newAgent("bot")
	id := h.owed(r, "bot", token)
	_, _ = fetched(t, h.url+"/messages/"+id)
	_, _ = fetched(t, h.url+"/no-such-page-"+id)
	h.until(`mash_push_attempts_total{result="200"} 1`)
	h.until(`mash_due_total{result="done"} `) // which is counted after the attempt
	text := h.metrics()
	for _, want := range []string{
		`mash_messages_submitted_total{type="ask"} 1`, `mash_messages_ended_total{outcome="answered",type="ask"} 1`,
		`mash_http_request_duration_seconds_count{endpoint="submit",status="202"} 1`,
		`mash_http_request_duration_seconds_count{endpoint="resolve",status="200"} 1`,
		`mash_http_request_duration_seconds_count{endpoint="agent-add",status="201"} 1`,
		`mash_http_request_duration_seconds_count{endpoint="none",status="404"} `,
		`mash_due_total{result="done"} `, `mash_sweeps_total{result="done"} `, `mash_store_group_commits_count `,
		`mash_build_info{version="`, "go_goroutines ", "process_resident_memory_bytes ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the metrics have no %s", want)
		}
	}
	tail := strings.TrimPrefix(id, "msg_")
	for _, label := range regexp.MustCompile(`"([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if strings.Contains(label[1], tail) || len(label[1]) > 60 {
			t.Errorf("a label is %q", label[1])
		}
	}
}

func TestMetrics_AreNotForStrangers(t *testing.T) {
	t.Parallel()
	behind := startHub(t, filepath.Join(t.TempDir(), "data"), "--public-url", "http://127.0.0.1:1")
	address := regexp.MustCompile(`http://[\d.:]+`).FindString(textOf(t, filepath.Join(behind.folder, "hub.url")))
	if status, _ := fetched(t, address+"/metrics"); status != http.StatusNotFound {
		t.Errorf("a hub behind a proxy shows its metrics: %d", status)
	}

	p := spawn(t, "serve", "--data", filepath.Join(t.TempDir(), "data"), "--listen", "127.0.0.1:0", "--metrics", ":9090")
	if state := p.end(); state.ExitCode() != exitError || !strings.Contains(p.stderr.String(), "name the host") {
		t.Errorf("--metrics :9090 = %v: %s", state, &p.stderr)
	}
}

func TestMetrics_ThatOthersMayReadAreNamed(t *testing.T) {
	t.Parallel()
	const said = "in plain HTTP, for whoever reaches that"
	for address, others := range map[string]bool{"0.0.0.0:0": true, "127.0.0.1:0": false} {
		h := startHub(t, filepath.Join(t.TempDir(), "data"), "--metrics", address)
		h.stop()
		if got := strings.Contains(h.stdout.String(), said); got != others {
			t.Errorf("--metrics %s: %s", address, &h.stdout)
		}
	}
}

// TestMetrics_AtAnAddressOfTheirOwnAreNowhereElse gives them one, on a hub that otherwise shows them itself and on one that
// does not.
func TestMetrics_AtAnAddressOfTheirOwnAreNowhereElse(t *testing.T) {
	t.Parallel()
	for _, more := range [][]string{nil, {"--public-url", "http://127.0.0.1:1"}} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		own := l.Addr().String()
		_ = l.Close()
		apart := startHub(t, filepath.Join(t.TempDir(), "data"), append(more, "--metrics", own)...)
		if status, text := fetched(t, "http://"+own+"/metrics"); status != http.StatusOK || !strings.Contains(text, "mash_build_info") {
			t.Errorf("GET /metrics at %s = %d", own, status)
		}
		if status, _ := fetched(t, "http://"+own+"/healthz"); status != http.StatusNotFound {
			t.Errorf("where the metrics are there is more: %d", status)
		}
		here := regexp.MustCompile(`http://[\d.:]+`).FindString(textOf(t, filepath.Join(apart.folder, "hub.url")))
		if status, _ := fetched(t, here+"/metrics"); status != http.StatusNotFound {
			t.Errorf("with --metrics %q, the hub shows them at its own address, too: %d", more, status)
		}
		apart.stop()
		if c, err := net.Dial("tcp", own); err == nil {
			_ = c.Close()
			t.Error("the metrics are still served")
		}
	}
}

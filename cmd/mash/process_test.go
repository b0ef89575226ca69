package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// process is a mash that runs as a process of its own.
type process struct {
	t              *testing.T
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
	ended          chan struct{}
}

// spawn starts this very binary as mash.
func spawn(t *testing.T, args ...string) *process {
	t.Helper()
	itself, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, ended: make(chan struct{})}
	p.cmd = &exec.Cmd{
		Path: itself, Args: append([]string{"mash"}, args...), Stdout: &p.stdout, Stderr: &p.stderr,
		Env: append(os.Environ(), "USUAL=127.0.0.1:1", "TZ=UTC", "MASH_URL=", "MASH_TOKEN=", "GORACE=atexit_sleep_ms=0"),
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // its state says how it ended
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
	})
	return p
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// end waits until the process has ended and returns how.
func (p *process) end() *os.ProcessState {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.t.Fatalf("the process does not end; it said %s%s", &p.stdout, &p.stderr)
	}
	return p.cmd.ProcessState
}

// mashed runs a command to its end, which has to go well, and returns what it prints.
func mashed(t *testing.T, args ...string) string {
	t.Helper()
	p := spawn(t, args...)
	if state := p.end(); !state.Success() {
		t.Fatalf("mash %q: %v\n%s%s", args, state, &p.stdout, &p.stderr)
	}
	return p.stdout.String()
}

// hubProcess is a hub that serves as a process, and how to call it.
type hubProcess struct {
	*process
	folder, url, owner string
}

func startHub(t *testing.T, folder string, more ...string) *hubProcess {
	t.Helper()
	urlFile := filepath.Join(t.TempDir(), "url")
	args := append([]string{"serve", "--data", folder, "--listen", "127.0.0.1:0", "--url-file", urlFile, "--rate", "0"}, more...)
	h := &hubProcess{process: spawn(t, args...), folder: folder}
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if url, err := os.ReadFile(urlFile); err == nil && len(url) > 0 {
			h.url = strings.TrimSpace(string(url))
			break
		}
		select {
		case <-h.ended:
			t.Fatalf("the hub does not serve: %s", &h.stderr)
		default:
		}
		if time.Now().After(end) {
			t.Fatal("the hub does not serve")
		}
	}
	token, err := os.ReadFile(filepath.Join(folder, "owner.token"))
	if err != nil {
		t.Fatal(err)
	}
	h.owner = strings.TrimSpace(string(token))
	return h
}

// stop ends the hub as an operator does.
func (h *hubProcess) stop() {
	h.t.Helper()
	h.signal(syscall.SIGTERM)
	if state := h.end(); !state.Success() {
		h.t.Fatalf("the hub did not stop well: %v\n%s", state, &h.stderr)
	}
}

// call sends a request and reads the answer into into, unless that is nil.
func (h *hubProcess) call(method, path, token string, body, into any) (int, error) {
	var sent io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return 0, err
		}
		sent = bytes.NewReader(b)
	}
	req, err := http.NewRequest(method, h.url+path, sent)
	if err != nil {
		return 0, err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := hubClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || into == nil {
		return resp.StatusCode, err
	}
	if err := json.Unmarshal(answer, into); err != nil {
		return resp.StatusCode, fmt.Errorf("%s: %w", answer, err)
	}
	return resp.StatusCode, nil
}

var hubClient = &http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: 32}}

// newAgent adds an agent and returns its token and push secret.
func (h *hubProcess) newAgent(id string) (token, secret string) {
	h.t.Helper()
	var made struct {
		Token  string
		Secret string `json:"push_secret"`
	}
	if status, err := h.call("POST", "/v1/agents", h.owner, map[string]any{"id": id}, &made); err != nil || status != http.StatusCreated {
		h.t.Fatalf("add agent: %d %v", status, err)
	}
	return made.Token, made.Secret
}

// question is an ask of an agent that the owner may answer.
func question(agent, key string) map[string]any {
	return map[string]any{
		"ma2h_version": "0.6", "type": "ask", "created_at": "2026-01-31T12:00:00Z", "title": "Ship?",
		"agent":           map[string]any{"id": agent, "run_id": "r", "runtime": "cli"},
		"idempotency_key": key,
		"request":         map[string]any{"mode": "confirm", "allowed_resolvers": []any{"human:owner"}},
	}
}

func textOf(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestConform_SaysWhatWasSentWhatCameAndWhatTheTextWants(t *testing.T) {
	t.Parallel()
	hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/.well-known/ma2h":
			_, _ = io.WriteString(w, `{"ma2h_version":"0.6","sessions":{"enabled":true},"more":"`+strings.Repeat("and more ", 200)+`"}`)
		case "/v1/agents":
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, `{"id":"a","token":"mash_1"}`)
		case "/v1/sessions":
			w.WriteHeader(http.StatusTeapot)
			_, _ = io.WriteString(w, "no sessions here")
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	}))
	t.Cleanup(hub.Close)
	var stdout, stderr bytes.Buffer
	env := map[string]string{"MASH_TOKEN": "mashp_1"}
	args := []string{"mash", "conform", "--hub", hub.URL, "--run", `dp-019\.1 `}
	code := run(t.Context(), args, nil, &stdout, &stderr, func(name string) string { return env[name] })
	want := []string{
		"FAILED  dp-019.1    the hub names sessions, and they are their agent's\n",
		"        sent    POST /v1/sessions as agent:a", "        came    418 no sessions here\n",
		"        want    201: an agent registers a session (spec §16.1)\n", "\n0 ok, 1 failed, 0 not applicable\n",
	}
	for _, w := range want {
		if !strings.Contains(stdout.String(), w) {
			t.Errorf("it says\n%s\nwant %q; %s", &stdout, w, &stderr)
		}
	}
	for line := range strings.Lines(stdout.String()) {
		if utf8.RuneCountInString(line) > 81 {
			t.Errorf("a line is longer than 80 columns: %s", line)
		}
	}
	if code != exitError {
		t.Errorf("conform = %d, want %d", code, exitError)
	}
}

package main

import (
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// marker is what nobody may find outside of the hub's store, in the spelling of a place where it may stand.
func marker(place string) string { return "Zq7mark-" + place }

// TestLog_TellsIDsAndCodesOnly lets marks through every place where people and agents write or show a secret, and looks for
// them in the log at its most talkative, on standard output and in the metrics.
func TestLog_TellsIDsAndCodesOnly(t *testing.T) {
	t.Parallel()
	r := newSlowReceiver(t)
	close(r.let)
	h := startHub(t, filepath.Join(t.TempDir(), "data"), "--log-level", "debug", "--allow-callback", r.address)
	token, secret := h.newAgent("bot")
	secrets := []string{token, secret, h.owner}

	h.marked(r, token)
	h.refusals(token)
	secrets = append(secrets, h.browse()...)
	h.until(`mash_push_attempts_total{result="200"} 1`)
	metrics := h.metrics()
	h.stop()

	link := regexp.MustCompile(`/in/(\S+)`).FindStringSubmatch(h.stdout.String())[1] // printed for the person who has started it
	said := map[string]string{
		"the log": h.stderr.String(), "standard output": strings.ReplaceAll(h.stdout.String(), link, ""), "the metrics": metrics,
	}
	if n := strings.Count(said["the log"], "msg=request"); n < 20 {
		t.Errorf("the log tells of %d requests, which is too few to mean anything", n)
	}
	for where, text := range said {
		for _, never := range append(secrets, link, "Zq7mark") {
			if at := strings.Index(text, never); at >= 0 {
				line := text[strings.LastIndex(text[:at], "\n")+1:]
				line, _, _ = strings.Cut(line, "\n")
				t.Errorf("%s tells %s: %s", where, never, line)
			}
		}
	}
}

// marked is an ask with marks wherever an agent writes, answered with one wherever a person does, pushed and acknowledged.
func (h *hubProcess) marked(r *slowReceiver, token string) {
	h.t.Helper()
	ask := question("bot", marker("key")+"-0123456789012345678901234")
	ask["title"], ask["body"], ask["state"], ask["client_ref"] = marker("title"), marker("body"), map[string]any{"s": marker("state")}, marker("ref")
	ask["agent"] = map[string]any{"id": "bot", "run_id": marker("run"), "runtime": "cli", "name": marker("name")}
	ask["context"] = []any{map[string]any{"kind": "text", "text": marker("context")}, map[string]any{"kind": "data", "data": map[string]any{"d": marker("data")}}}
	request := ask["request"].(map[string]any)
	request["mode"], request["allowed_resolvers"] = "select", []any{"human:owner", "human:" + marker("resolver")}
	request["options"] = []any{map[string]any{"value": marker("value"), "label": marker("label")}}
	request["callback"] = map[string]any{
		"mode": "push", "url": "http://" + r.address + "/" + marker("path") + "?q=" + marker("query"),
		"auth": map[string]any{"scheme": "hmac", "secret_ref": "env:MASH_PUSH_SECRET"},
	}
	id := h.asked(token, ask)
	for range 2 { // the second is too late
		_, _ = h.call("POST", "/v1/messages/"+id+"/resolve", h.owner,
			map[string]any{"resolution": "answered", "value": marker("value"), "comment": marker("comment")}, nil)
	}
	<-r.came
	for _, action := range []string{"GET /v1/messages/" + id, "POST /v1/messages/" + id + "/cancel", "POST /v1/messages/" + id + "/ack"} {
		method, path, _ := strings.Cut(action, " ")
		var body any
		if strings.HasSuffix(path, "/ack") {
			body = map[string]any{"note": marker("note")}
		}
		if status, err := h.call(method, path, token, body, nil); err != nil || status >= http.StatusInternalServerError {
			h.t.Errorf("%s = %d, %v", action, status, err)
		}
	}
}

// refusals is what the hub refuses: marks in paths, queries, credentials and bodies.
func (h *hubProcess) refusals(token string) {
	h.t.Helper()
	for _, c := range []struct{ method, path, token string }{
		{"GET", "/v1/messages/" + marker("id"), token}, {"GET", "/" + marker("page"), ""}, {"GET", "/v1/" + marker("endpoint"), token},
		{"GET", "/in/" + marker("link"), ""}, {"GET", "/join/" + marker("invitation"), ""}, {"GET", "/v1/me?x=" + marker("query"), token},
		{"GET", "/v1/me", marker("token")}, {"GET", "//" + marker("unclean"), ""}, {"POST", "/signin?next=/" + marker("next"), ""},
		{"DELETE", "/v1/agents/" + marker("agent"), h.owner}, {"GET", "/v1/messages/msg_x?wait=" + marker("wait"), token},
		{"PUT", "/v1/settings", h.owner}, {"POST", "/v1/agents", h.owner}, {"POST", "/v1/messages", token},
	} {
		var body any
		if c.method != "GET" {
			body = map[string]any{"id": marker("a b") + "?", marker("member"): marker("value"), "password": marker("password")}
		}
		if status, err := h.call(c.method, c.path, c.token, body, nil); err != nil || status < 400 && !strings.HasPrefix(c.path, "/v1/me?") {
			h.t.Errorf("%s %s = %d, %v, want a refusal", c.method, c.path, status, err)
		}
	}
}

// browse signs in by a link, looks at pages with marks in the address, and shows a form and a cookie of nobody. It returns
// what nobody may find in the log.
func (h *hubProcess) browse() []string {
	h.t.Helper()
	var made struct{ URL string }
	if _, err := h.call("POST", "/v1/links", h.owner, nil, &made); err != nil {
		h.t.Fatal(err)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	send := func(method, address, cookie, form string) []*http.Cookie {
		h.t.Helper()
		req, err := http.NewRequestWithContext(h.t.Context(), method, address, strings.NewReader(form))
		if err != nil {
			h.t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("User-Agent", marker("browser"))
		req.Header.Set("Cookie", cookie)
		resp, err := client.Do(req)
		if err != nil {
			h.t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.Cookies()
	}
	found := []string{made.URL[strings.LastIndex(made.URL, "/")+1:]}
	send("GET", made.URL, "", "")
	cookie := ""
	for _, c := range send("POST", made.URL, "", "") {
		cookie += c.Name + "=" + c.Value + "; "
		if len(c.Value) > 20 {
			found = append(found, c.Value)
		}
	}
	for _, page := range []string{"/", "/inbox", "/history?q=" + marker("search"), "/messages/" + marker("id"), "/people", "/settings"} {
		send("GET", h.url+page, cookie, "")
		send("GET", h.url+page, "mash_session="+marker("cookie"), "")
		send("POST", h.url+page, cookie, url.Values{"csrf": {marker("csrf")}, "password": {marker("password")}, "comment": {marker("comment")}}.Encode())
	}
	return found
}

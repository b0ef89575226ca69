package lambdahttp_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/lambdahttp"
)

// invoke sends the bytes of an event through the very path that the runtime takes.
func invoke(ctx context.Context, t *testing.T, h http.HandlerFunc, event string) (events.APIGatewayV2HTTPResponse, error) {
	t.Helper()
	var answer events.APIGatewayV2HTTPResponse
	out, err := lambda.NewHandler(lambdahttp.Handler(h)).Invoke(ctx, []byte(event))
	if err != nil {
		return answer, err
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	return answer, nil
}

func mustInvoke(t *testing.T, h http.HandlerFunc, event string) events.APIGatewayV2HTTPResponse {
	t.Helper()
	answer, err := invoke(t.Context(), t, h, event)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func event(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// seen is a request as a handler sees it.
type seen struct {
	Method, Path, Escaped, Query, URI, Host, Remote string
	Header                                          http.Header
	Cookies                                         []string
	Length                                          int64
	Body                                            string
}

func (s *seen) see(_ http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(err)
	}
	*s = seen{
		Method: r.Method, Path: r.URL.Path, Escaped: r.URL.EscapedPath(), Query: r.URL.RawQuery, URI: r.RequestURI,
		Host: r.Host, Remote: r.RemoteAddr, Header: r.Header.Clone(), Length: r.ContentLength, Body: string(body),
	}
	for _, c := range r.Cookies() {
		s.Cookies = append(s.Cookies, c.String())
	}
	s.Header.Del("Cookie")
}

func TestAnEventIsTheRequestThatWasSent(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]seen{
		"httpapi-post.json": {
			Method: "POST", Path: "/v1/messages", Escaped: "/v1/messages",
			Query: "a=1&a=2&b=x%20y&c=", URI: "/v1/messages?a=1&a=2&b=x%20y&c=",
			Host: "hub.example", Remote: "203.0.113.7:0",
			Header: http.Header{
				"Accept":         {"application/json,text/html;q=0.5"},
				"Authorization":  {"Bearer mash_token"},
				"Content-Length": {"18"},
				"Content-Type":   {"application/json"},
				"Ma2h-Signature": {`t=1,v1="a,b"`},
			},
			Cookies: []string{"session=s%2C1", "theme=dark"}, Length: 18, Body: "{\"title\":\"ä ✓\"}",
		},
		"functionurl-binary.json": {
			Method: "PUT", Path: "/v1/agents/deploybot/dev-team", Escaped: "/v1/agents/deploybot%2Fdev-team",
			URI: "/v1/agents/deploybot%2Fdev-team", Host: "abc.lambda-url.eu-central-1.on.aws", Remote: "[2001:db8::1]:0",
			Header: http.Header{"Content-Type": {"application/octet-stream"}}, Length: 4, Body: "\x00\xff\xfe\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got seen
			mustInvoke(t, got.see, event(t, name))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("request (-want +got)\n%s", diff)
			}
		})
	}
}

// TestPathsAreDecodedOnce covers both senders: a function URL hands a path over as it was sent, an HTTP API decoded but
// for %25.
func TestPathsAreDecodedOnce(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/agents/{agent}/rotate", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.PathValue("agent"), "|", r.URL.RawQuery)
	})
	for raw, want := range map[string]string{
		"/v1/agents/deploybot%2Fdev-team/rotate": "deploybot/dev-team",
		"/v1/agents/a%252Fb/rotate":              "a%2Fb", // from either
		"/v1/agents/%C3%A4%20%23%3F/rotate":      "ä #?",
		"/v1/agents/ä #?/rotate":                 "ä #?",
		"/v1/agents/100%25/rotate":               "100%", // from either
		"/v1/agents/100%/rotate":                 "100%",
		"/v1/agents/a%2eb+c;d=e/rotate":          "a.b+c;d=e",
		"/v1/agents/%2e%2e/rotate":               "..",
	} {
		e, err := json.Marshal(map[string]any{
			"version": "2.0", "rawPath": raw, "rawQueryString": "q=%23",
			"requestContext": map[string]any{"domainName": "hub.example", "http": map[string]any{"method": "GET"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := mustInvoke(t, mux.ServeHTTP, string(e)); got.Body != want+"|q=%23" {
			t.Errorf("%s reached %d %q, want %q", raw, got.StatusCode, got.Body, want)
		}
	}
}

const get = `{"version":"2.0","rawPath":"/","requestContext":{"domainName":"hub.example","http":{"method":"GET"}}}`

func TestAnAnswerIsWhatTheHandlerWrote(t *testing.T) {
	t.Parallel()
	binary := "\x89PNG\r\n\x00\xff"
	head := strings.Replace(get, "GET", "HEAD", 1)
	for name, c := range map[string]struct {
		event  string
		handle http.HandlerFunc
		want   events.APIGatewayV2HTTPResponse
	}{
		"nothing": {get, func(http.ResponseWriter, *http.Request) {}, events.APIGatewayV2HTTPResponse{StatusCode: 200}},
		"an error": {get, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusConflict)
			fmt.Fprint(w, `{"error":{"code":"x","message":"<ä>"}}`)
			w.WriteHeader(http.StatusOK)           // comes too late
			w.Header().Set("X-Late", "and so too") // this
		}, events.APIGatewayV2HTTPResponse{
			StatusCode: 409, Body: `{"error":{"code":"x","message":"<ä>"}}`,
			Headers: map[string]string{"Content-Type": "application/json"},
		}},
		"repeated headers and cookies": {get, func(w http.ResponseWriter, _ *http.Request) {
			for _, v := range []string{"Accept", "Cookie"} {
				w.Header().Add("Vary", v)
			}
			http.SetCookie(w, &http.Cookie{Name: "a", Value: "1", Expires: time.Unix(0, 0)})
			http.SetCookie(w, &http.Cookie{Name: "b", Value: "2"})
			w.Header().Set("Location", "/inbox")
			w.WriteHeader(http.StatusSeeOther)
		}, events.APIGatewayV2HTTPResponse{
			StatusCode: 303, Headers: map[string]string{"Vary": "Accept,Cookie", "Location": "/inbox"},
			Cookies: []string{"a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "b=2"},
		}},
		"bytes that are no text": {get, func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, binary)
		}, events.APIGatewayV2HTTPResponse{
			StatusCode: 200, Body: base64.StdEncoding.EncodeToString([]byte(binary)), IsBase64Encoded: true,
			Headers: map[string]string{"Content-Type": "application/octet-stream"},
		}},
		"no body to a HEAD": {head, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			fmt.Fprint(w, "text")
		}, events.APIGatewayV2HTTPResponse{StatusCode: 200, Headers: map[string]string{"Content-Type": "text/plain"}}},
		"no body with a 304": {get, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusNotModified)
			fmt.Fprint(w, "text")
		}, events.APIGatewayV2HTTPResponse{StatusCode: 304}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := mustInvoke(t, c.handle, c.event)
			if c.want.Headers == nil {
				c.want.Headers = map[string]string{}
			}
			if c.want.Cookies == nil {
				c.want.Cookies = []string{}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("answer (-want +got)\n%s", diff)
			}
		})
	}
}

func TestTheDeadlineReachesTheHandler(t *testing.T) {
	t.Parallel()
	want := time.Now().Add(time.Minute)
	ctx, cancel := context.WithDeadline(t.Context(), want)
	defer cancel()
	var got time.Time
	if _, err := invoke(ctx, t, func(_ http.ResponseWriter, r *http.Request) { got, _ = r.Context().Deadline() }, get); err != nil {
		t.Fatal(err)
	}
	if !got.Equal(want) {
		t.Errorf("deadline = %s, want %s", got, want)
	}
}

func TestWhatIsNoRequestIsAnError(t *testing.T) {
	t.Parallel()
	for _, e := range []string{
		`{"rawPath":"/","body":"%%%","isBase64Encoded":true,"requestContext":{"http":{"method":"POST"}}}`,
		`{"rawPath":"/","requestContext":{"http":{"method":"NO METHOD"}}}`,
	} {
		called := false
		answer, err := invoke(t.Context(), t, func(http.ResponseWriter, *http.Request) { called = true }, e)
		if err == nil || called {
			t.Errorf("%s = %+v, %v, handler called %t; want an error", e, answer, err, called)
		}
	}
}

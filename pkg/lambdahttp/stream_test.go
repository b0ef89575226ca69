package lambdahttp_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/lambdahttp"
)

// streamed sends an event to a function whose answers are read while they are written.
func streamed(t *testing.T, h http.HandlerFunc, text string) *events.LambdaFunctionURLStreamingResponse {
	t.Helper()
	var e events.APIGatewayV2HTTPRequest
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		t.Fatal(err)
	}
	answer, err := lambdahttp.StreamHandler(h)(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func TestAStreamIsReadWhileItIsWritten(t *testing.T) {
	t.Parallel()
	read := make(chan struct{})
	answer := streamed(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintln(w, "first")
		<-read
		fmt.Fprintln(w, "second")
	}, get)
	if answer.StatusCode != http.StatusOK || answer.Headers["Content-Type"] != "text/event-stream" {
		t.Errorf("the answer begins with %d and %v", answer.StatusCode, answer.Headers)
	}
	lines := bufio.NewReader(answer.Body)
	if first, err := lines.ReadString('\n'); first != "first\n" || err != nil {
		t.Fatalf("the first line is %q, %v", first, err)
	}
	close(read)
	if rest, err := io.ReadAll(lines); string(rest) != "second\n" || err != nil {
		t.Errorf("the rest is %q, %v", rest, err)
	}
}

func TestAStreamsRequestIsTheOneThatWasSent(t *testing.T) {
	t.Parallel()
	got, want := make(chan seen, 1), seen{}
	body, err := io.ReadAll(streamed(t, func(w http.ResponseWriter, r *http.Request) {
		var s seen
		s.see(w, r)
		got <- s
	}, event(t, "httpapi-post.json")).Body)
	if len(body) > 0 || err != nil {
		t.Errorf("a handler that writes nothing has written %q, %v", body, err)
	}
	mustInvoke(t, want.see, event(t, "httpapi-post.json"))
	want.Cookies = nil // which no credential is that a stream takes
	if diff := cmp.Diff(want, <-got); diff != "" {
		t.Errorf("request (-as of any function +got)\n%s", diff)
	}
}

func TestAStreamHasAStatusAndNoBodyToAHEAD(t *testing.T) {
	t.Parallel()
	answer := streamed(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusGone)
		fmt.Fprint(w, "gone")
	}, strings.Replace(get, "GET", "HEAD", 1))
	if body, err := io.ReadAll(answer.Body); answer.StatusCode != http.StatusGone || len(body) > 0 || err != nil {
		t.Errorf("the answer is %d %q, %v; want 410 and nothing", answer.StatusCode, body, err)
	}
}

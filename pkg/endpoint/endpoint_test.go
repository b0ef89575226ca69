package endpoint_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mash-hub/mash/pkg/endpoint"
)

func TestNamesAreUnique(t *testing.T) {
	t.Parallel()
	seen := map[endpoint.Name]bool{}
	for _, e := range endpoint.All() {
		if seen[e.Name] {
			t.Errorf("the name %q stands twice in the table", e.Name)
		}
		seen[e.Name] = true
		if got := endpoint.Of(e.Name); got.Pattern() != e.Pattern() {
			t.Errorf("Of(%q) = %s, want %s", e.Name, got.Pattern(), e.Pattern())
		}
	}
}

func TestEveryRowMountsOnOneMuxAndIsReachedByItsFilledPath(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	for _, e := range endpoint.All() {
		mux.HandleFunc(e.Pattern(), func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, e.Name, " ", r.PathValue("id"), r.PathValue("agent"))
		})
	}
	for _, id := range []string{"msg_1", "deploybot/dev-team", "a#b", "a b%2F?c=d;e", ".", "..", "ä/✓", "a//b"} {
		for _, e := range endpoint.All() {
			path, want := e.Path, string(e.Name)+" "
			if strings.Contains(path, "{") {
				path, want = e.Fill(id), want+id
			}
			answer := httptest.NewRecorder()
			mux.ServeHTTP(answer, httptest.NewRequest(e.Method, path, nil))
			if got := answer.Body.String(); got != want {
				t.Errorf("%s %s reached %q, want %q", e.Method, path, got, want)
			}
		}
	}
}

func TestEveryRowSaysWhoMayCallIt(t *testing.T) {
	t.Parallel()
	for _, e := range endpoint.All() {
		switch e.Caller {
		case endpoint.None, endpoint.Agent, endpoint.Person, endpoint.Either:
		default:
			t.Errorf("%s is for %q", e.Name, e.Caller)
		}
		if open := !strings.HasPrefix(e.Path, "/v1/"); open != (e.Caller == endpoint.None) {
			t.Errorf("%s %s is for %q; just what lies under /v1 needs a credential", e.Name, e.Path, e.Caller)
		}
	}
}

func TestTheTableIsTheCallersOwn(t *testing.T) {
	t.Parallel()
	endpoint.All()[0].Path = "/changed"
	if got := endpoint.All()[0].Path; got == "/changed" {
		t.Errorf("All()[0].Path = %q after a caller changed its copy", got)
	}
}

func ExampleEndpoint_Fill() {
	fmt.Println(endpoint.Of(endpoint.AgentRotate).Fill("deploybot/dev-team"))
	// Output: /v1/agents/deploybot%2Fdev-team/rotate
}

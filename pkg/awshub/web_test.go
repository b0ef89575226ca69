package awshub_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/lambdahttp"
)

// TestUnderHTTPSAndBelowAPath: functions are told a path with that of the hub's address in it, and cookies travel below it
// and by https alone.
func TestUnderHTTPSAndBelowAPath(t *testing.T) {
	t.Parallel()
	for base, cookie := range map[string]string{"": "__Host-mash_form=", "/tools/mash": "__Secure-mash_form="} {
		s := deploy(t)
		s.config.BaseURL += base
		h, err := s.config.Inbox(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		pages := lambda.NewHandler(lambdahttp.Handler(h))
		page := s.send(pages, http.MethodGet, base+"/signin", "", nil)
		if page.status != http.StatusOK || !strings.Contains(page.body, `action="`+base+`/signin"`) {
			t.Errorf("%s/signin = %d %s", base, page.status, page.body)
		}
		if len(page.cookies) != 1 {
			t.Fatalf("%s/signin sets %d cookies", base, len(page.cookies))
		}
		for _, want := range []string{cookie, "; Path=" + base + "/;", "; HttpOnly", "; Secure", "; SameSite=Lax"} {
			if !strings.Contains(page.cookies[0], want) {
				t.Errorf("%s/signin: Set-Cookie = %q, want %s in it", base, page.cookies[0], want)
			}
		}
		if home := s.send(pages, http.MethodGet, base+"/", "", nil); home.header["Location"] != base+"/inbox" {
			t.Errorf("%s/ leads to %q", base, home.header["Location"])
		}
		if _, err := s.hub.AddAgent(t.Context(), s.owner, "a/b"); err != nil {
			t.Fatal(err)
		}
		agent := s.must(s.function(endpoint.Presence), http.MethodGet, base+"/v1/agents/a%2Fb/presence", s.alice(), nil, http.StatusOK)
		if agent["agent_id"] != "a/b" {
			t.Errorf("%s/v1/agents/a%%2Fb/presence is %v", base, agent)
		}
		s.must(pages, http.MethodGet, base+"/v1/nothing", "", nil, http.StatusNotFound)
	}
}

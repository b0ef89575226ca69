package inbox_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestNothingThatIsReadIsBlank: letters and signs that look like nothing are nothing.
func TestNothingThatIsReadIsBlank(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	for _, blank := range []string{
		" ", "\u00a0", "\u00ad", "\u034f", "\u115f\u1160", "\u17b4", "\u180b", "\u200b\u200d", "\u2060", "\u2800\u2800", "\u3164", "\ufe0f", "\ufeff",
		"\uffa0", "\U0001d159", "\U000e0041", "\U000e0100",
	} {
		id := r.send(`"type":"ask","title":` + quoted(blank) + `,"body":` + quoted("["+blank+"](https://evil.example/) ![ "+blank+"](https://img.example/p.png)") +
			`,"request":{"allowed_resolvers":["human:owner"],"mode":"select","options":[{"value":"yes","label":` + quoted(blank) + `},{"value":"no"}]}`)
		p := r.get("/inbox/" + id).is(http.StatusOK)
		if got := text(p.find("h1", "", "")[0]); strings.Trim(got, blank) == "" {
			t.Errorf("%+q: the title reads %+q", blank, got)
		}
		if got := text(p.find("button", "value", "option:0")[0]); !strings.Contains(got, "yes") {
			t.Errorf("%+q: the option reads %+q", blank, got)
		}
		for _, host := range []string{"https://evil.example/", "https://img.example/p.png"} {
			if got := text(p.find("a", "href", host)[0]); strings.Trim(got, blank+" ") == "" {
				t.Errorf("%+q: the link to %s reads %+q", blank, host, got)
			}
		}
	}
}

package auth_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/mash-hub/mash/pkg/auth"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

var (
	account = strings.Repeat("a", hub.AccountRefLength)
	ref     = strings.Repeat("b", ma2h.TailLength)
	secret  = strings.Repeat("c", ma2h.TailLength)
	agents  = "mash_" + account + "_" + ref + "_" + secret
	persons = "mashp_" + account + "_" + ref + "_" + secret
)

func TestParse(t *testing.T) {
	t.Parallel()
	for token, person := range map[string]bool{
		agents: false, persons: true, hub.NewToken(hub.AgentTokenPrefix, account, ref): false,
		hub.NewToken(hub.PersonTokenPrefix, account, ref): true,
	} {
		c, err := auth.Parse(token)
		if err != nil || c.Account != account || c.Ref != ref || c.Person != person {
			t.Errorf("Parse(%s) = %+v, %v, want %s of %s, person: %t", token, c, err, ref, account, person)
		}
	}
	for _, token := range []string{
		"", "_", "___", "____", "mash", " " + agents, agents + " ", agents + "\n", agents + "_", "_" + agents, agents + "_" + secret,
		agents[:len(agents)-1], agents + "c", strings.ToUpper(agents), strings.Replace(agents, "b", "B", 1),
		strings.Replace(agents, "c", "-", 1), strings.Replace(agents, "c", "é", 1), strings.Replace(agents, "a", "\x00", 2),
		strings.Replace(agents, "mash_", "mashq_", 1), strings.Replace(agents, "mash_", "_", 1), "Bearer " + agents,
		strings.ReplaceAll(agents, "_", "-"), strings.Replace(agents, account, account+"a", 1), "mash_" + ref + "_" + account + "_" + secret,
	} {
		c, err := auth.Parse(token)
		if err == nil || err.Code != ma2h.CodeUnauthenticated || c != (auth.Credential{}) {
			t.Errorf("Parse(%q) = %+v, %v, want nothing and %s", token, c, err, ma2h.CodeUnauthenticated)
		}
	}
}

// FuzzParse holds that what is taken for a token is one, letter by letter: its parts name records.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{agents, persons, "", "mash___", "mash_" + account + "__" + secret, agents + "_x"} {
		f.Add(seed)
	}
	form := regexp.MustCompile(`\A(mash|mashp)_([0-9a-z]{12})_([0-9a-z]{26})_[0-9a-z]{26}\z`)
	f.Fuzz(func(t *testing.T, token string) {
		c, err := auth.Parse(token)
		parts := form.FindStringSubmatch(token)
		if (err == nil) != (parts != nil) {
			t.Fatalf("Parse(%q) = %+v, %v", token, c, err)
		}
		if parts == nil {
			if err.Code != ma2h.CodeUnauthenticated || c != (auth.Credential{}) {
				t.Errorf("Parse(%q) = %+v, %v", token, c, err)
			}
			return
		}
		if c.Person != (parts[1] == "mashp") || c.Account != parts[2] || c.Ref != parts[3] {
			t.Errorf("Parse(%q) = %+v", token, c)
		}
	})
}

func TestFromRequest(t *testing.T) {
	t.Parallel()
	type header = http.Header
	const unauthenticated, invalid = ma2h.CodeUnauthenticated, ma2h.CodeValidationError
	for name, c := range map[string]struct {
		header header
		want   ma2h.Code // empty for the agent's credential
	}{
		"a bearer token":            {header{"Authorization": {"Bearer " + agents}}, ""},
		"bearer in small letters":   {header{"Authorization": {"bearer " + agents}}, ""},
		"bearer in capitals":        {header{"Authorization": {"BEARER " + agents}}, ""},
		"several spaces":            {header{"Authorization": {"Bearer   " + agents}}, ""},
		"a key":                     {header{"X-Api-Key": {agents}}, ""},
		"nothing":                   {header{}, unauthenticated},
		"an empty header":           {header{"Authorization": {""}}, unauthenticated},
		"an empty key":              {header{"X-Api-Key": {""}}, unauthenticated},
		"no scheme":                 {header{"Authorization": {agents}}, unauthenticated},
		"no token":                  {header{"Authorization": {"Bearer"}}, unauthenticated},
		"no space":                  {header{"Authorization": {"Bearer" + agents}}, unauthenticated},
		"another scheme":            {header{"Authorization": {"Basic " + agents}}, unauthenticated},
		"a scheme in a key":         {header{"X-Api-Key": {"Bearer " + agents}}, unauthenticated},
		"more behind it":            {header{"Authorization": {"Bearer " + agents + ", Bearer " + agents}}, unauthenticated},
		"a cookie":                  {header{"Cookie": {"mash_session=" + persons}}, unauthenticated},
		"both":                      {header{"Authorization": {"Bearer " + agents}, "X-Api-Key": {agents}}, invalid},
		"both, one of them useless": {header{"Authorization": {"Basic x"}, "X-Api-Key": {agents}}, invalid},
		"two bearer tokens":         {header{"Authorization": {"Bearer " + agents, "Bearer " + agents}}, invalid},
		"two keys":                  {header{"X-Api-Key": {agents, agents}}, invalid},
	} {
		got, err := auth.FromRequest(&http.Request{Header: c.header})
		if c.want == "" && (err != nil || got.Ref != ref || got.Account != account || got.Person) {
			t.Errorf("FromRequest with %s = %+v, %v, want the agent", name, got, err)
		}
		if c.want != "" && (err == nil || err.Code != c.want || got != (auth.Credential{})) {
			t.Errorf("FromRequest with %s = %+v, %v, want %s", name, got, err, c.want)
		}
	}
}

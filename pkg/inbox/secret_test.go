package inbox_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestSecretsAreNeverShownWhateverMarksThem(t *testing.T) {
	t.Parallel()
	const secret = `{"x-ma2h-sensitive":true}`
	const a = `{"properties":{"a":` + secret + `}}`
	for name, rest := range map[string]string{
		"dependencies":          `"dependencies":{"b":` + a + `}`,
		"dependentSchemas":      `"dependentSchemas":{"b":` + a + `}`,
		"a reference":           `"allOf":[{"$ref":"#/$defs/API%20key"}],"$defs":{"API key":` + a + `}`,
		"a condition":           `"if":{"properties":{"b":{"const":2}}},"then":` + a + ``,
		"names":                 `"propertyNames":` + secret,
		"a pattern of names":    `"patternProperties":{"^a":` + secret + `}`,
		"what else there is":    `"unevaluatedProperties":` + secret,
		"a part of what is one": `"allOf":[{"anyOf":[{},` + a + `]}]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := signedIn(t)
			id := r.form(`{"properties":{"b":{"type":"integer"},"a":{"type":"string","maxLength":20}},` + rest + `}`)
			if name == "what else there is" {
				id = r.form(`{"properties":{"b":{"type":"integer"}},` + rest + `}`)
			}
			quiet := func(p *answer) {
				t.Helper()
				if strings.Contains(p.body, "hush") {
					t.Error("a secret comes back")
				}
			}
			quiet(r.reply(id, url.Values{"do": {"send"}, "f0": {"x"}, "f1": {"hush"}}).is(http.StatusUnprocessableEntity))
			quiet(r.reply(id, url.Values{"do": {"json"}, "json": {`{"b":"x","a":"hush"}`}}).is(http.StatusUnprocessableEntity))
			r.reply(id, url.Values{"do": {"json"}, "json": {`{"b":1,"a":"hush"}`}}).is(http.StatusSeeOther)
			if got := string(r.pulled(id)); got != `{"b":1,"a":"hush"}` {
				t.Errorf("the agent gets %s", got)
			}
			for _, path := range []string{"/inbox/" + id, "/inbox?done=" + id, "/history"} {
				quiet(r.get(path).is(http.StatusOK))
			}
			r.get("/inbox/" + id).says("kept back")
		})
	}
}

func TestReferencesAreFollowedAsTheyAreEncoded(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	id := r.form(`{"properties":{"a":{"$ref":"#/$defs/API%20key"}},"$defs":{"API key":{"enum":["x","y"],"title":"API key"}}}`)
	s := open(t, r.get("/inbox/"+id))
	s.fill("API key", "y")
	s.press(r, id, "send").is(http.StatusSeeOther)
	if got := string(r.pulled(id)); got != `{"a":"y"}` {
		t.Errorf("the agent gets %s", got)
	}
}

//go:build browser

package realtime_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// untouchedForm makes an ask a form of all the defaults that pkg/inbox has cases for, and returns what each of them is.
func untouchedForm(t *testing.T) (edits []edit, want map[string]string) {
	t.Helper()
	data, err := os.ReadFile("../inbox/testdata/untouched.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name     string
		Property json.RawMessage
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 40 {
		t.Fatalf("%d cases, want 40 at least", len(cases))
	}
	want = map[string]string{}
	var properties []string
	for _, c := range cases {
		var of struct{ Default json.RawMessage }
		if err := json.Unmarshal(c.Property, &of); err != nil {
			t.Fatal(err)
		}
		properties = append(properties, fmt.Sprintf("%q:%s", c.Name, c.Property))
		want[c.Name] = toTheLetter(t, of.Default)
	}
	schema := json.RawMessage(`{"type":"object","properties":{` + strings.Join(properties, ",") + `}}`)
	return []edit{lasting, set("/request/mode", "input"), set("/request/schema", schema)}, want
}

// toTheLetter writes JSON in which every number is as it came, and every text in one spelling.
func toTheLetter(t *testing.T, v json.RawMessage) string {
	t.Helper()
	out := jsontext.Value(v).Clone()
	if err := out.Compact(jsontext.PreserveRawStrings(false), jsontext.CanonicalizeRawFloats(false)); err != nil {
		t.Fatalf("%s: %v", v, err)
	}
	return string(out)
}

// TestBrowser_WhatNobodyTouchedIsTheDefaultToTheLetter: whatever a browser makes of what stands in its controls.
func TestBrowser_WhatNobodyTouchedIsTheDefaultToTheLetter(t *testing.T) {
	onPages(t, func(s *server) {
		edits, want := untouchedForm(s.t)
		bot := s.agent("bot")
		id := bot.accepted(s.ask(edits...))
		w := s.window(desktop)
		w.signIn()
		w.open("/inbox/" + id)
		w.clickThrough(`.actions button[value="send"]`)
		var got struct {
			Response struct {
				Response struct{ Value map[string]json.RawMessage }
			}
		}
		if err := json.Unmarshal(bot.pull(id, "").is(http.StatusOK).shows("/status", "answered").body, &got); err != nil {
			s.t.Fatal(err)
		}
		for name, value := range want {
			came, ok := got.Response.Response.Value[name]
			if !ok {
				s.t.Errorf("%s: nothing arrives, want %s", name, value)
			} else if letter := toTheLetter(s.t, came); letter != value {
				s.t.Errorf("%s: %s arrives, want %s", name, letter, value)
			}
		}
	})
}

// TestBrowser_WhatIsTypedArrivesAsItWasTyped: no control writes it anew.
func TestBrowser_WhatIsTypedArrivesAsItWasTyped(t *testing.T) {
	onPages(t, func(s *server) {
		typed := map[string]string{"email": "jo@bücher.example", "uri": "HTTPS://bücher.example/%7e?q=ä", "short": " a  b ", "number": "0.10"}
		bot := s.agent("bot")
		id := bot.accepted(s.ask(lasting, set("/request/mode", "input"), set("/request/schema", json.RawMessage(`{"type":"object","properties":{
			"email":{"type":"string","format":"email"},"uri":{"type":"string","format":"uri"},"short":{"type":"string","maxLength":40},
			"number":{"type":"number"}}}`))))
		w := s.window(desktop)
		w.signIn()
		w.open("/inbox/" + id)
		for i, name := range []string{"email", "uri", "short", "number"} {
			w.click(fmt.Sprintf(`[name="f%d"]`, i))
			w.press(typed[name])
		}
		w.clickThrough(`.actions button[value="send"]`)
		bot.pull(id, "").is(http.StatusOK).shows("/status", "answered", "/response/response/value/email", typed["email"],
			"/response/response/value/uri", typed["uri"], "/response/response/value/short", typed["short"])
	})
}

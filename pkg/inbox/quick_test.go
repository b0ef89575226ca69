package inbox_test

import (
	"testing"
)

func TestRowsSayWhatThereIsToRead(t *testing.T) {
	t.Parallel()
	const attachment = `{"kind":"text","text":"x"}`
	cases := map[string]struct{ members, request, want string }{
		"nothing": {``, `"mode":"confirm"`, ""},
		"empty":   {`,"body":" \n\n \t\n"`, `"mode":"confirm"`, ""},
		"one":     {`,"body":"One.\nStill one."`, `"mode":"confirm"`, "Read first: 1 paragraph"},
		"three and two": {
			`,"body":"\n\nOne.\r\n\r\nTwo.\n \nThree.\n","context":[` + attachment + `,` + attachment + `]`, `"mode":"confirm"`,
			"Read first: 3 paragraphs, 2 attachments",
		},
		"an attachment": {`,"context":[` + attachment + `]`, `"mode":"confirm"`, "Read first: 1 attachment"},
		"descriptions": {
			`,"body":"One."`, `"mode":"select","options":[{"value":"a"},{"value":"b","description":"Costs 40 euros."}]`,
			"Read first: 1 paragraph, what the options mean",
		},
		"a form": {`,"body":"One."`, `"mode":"input","schema":{"properties":{"a":{}}}`, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := signedIn(t)
			id := r.send(`"type":"ask","title":"Q","request":{"allowed_resolvers":["human:owner"],` + c.request + `}` + c.members)
			links := r.get("/inbox").find("a", "class", "unread")
			switch {
			case c.want == "" && len(links) > 0:
				t.Errorf("the row says %q, want nothing", text(links[0]))
			case c.want != "" && (len(links) != 1 || text(links[0]) != c.want || attr(links[0], "href") != "/inbox/"+id):
				t.Errorf("the row does not say %q, with a link to the message", c.want)
			}
			if len(r.get("/inbox/"+id).find("a", "class", "unread")) != 0 {
				t.Error("the list beside a message says it, too")
			}
		})
	}
}

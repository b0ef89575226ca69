package inbox_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"golang.org/x/net/html"
)

// hostile are texts that agents might send to turn a page against its reader.
var hostile = []string{
	`<script>alert(1)</script>`,
	`"><img src=x onerror=alert(1)>`,
	`</textarea><script>alert(1)</script>`,
	`</title><script>alert(1)</script>`,
	`' onmouseover='alert(1)`,
	"javascript:alert(1)",
	"[click](javascript:alert(1)) [data](data:text/html,x) [rel](/settings) [host](//evil.example) [v](vbscript:x)",
	"<javascript:alert(1)> <https://user:pw@evil.example/> <a@b.example>",
	"![pixel](https://tracker.example/p.gif) ![](javascript:x) [![in](https://a.example/i.png)](https://b.example)",
	"<div onclick=\"x\" style=\"position:fixed\">block</div>\n\ntext <b onclick=x>inline</b> <!-- note --> <style>*{}</style>",
	"<iframe src=https://evil.example></iframe>\n\n<form action=https://evil.example><input name=csrf></form>",
	"# One\n## Two\n\n| a | b |\n|:-|-:|\n| <script> | `</code><script>` |\n\n- [ ] box\n- [x] box",
	"&#x202E;reversed &#60;script&#62; &lt;script&gt; &#0; &#x2066;",
	"[a]: javascript:x 'onclick=x'\n\n[a] ![a]\n\n[x](https://a.example \"t\" onclick=x)",
	"txt\u202egnp.exe \u2066isolate\u2069 \u0000\u0007\u001b[31m \u2028line",
	"{{.CSRF}} {{define \"page\"}}x{{end}} %s %d %!x",
	strings.Repeat("W", 200), strings.Repeat(">", 300), strings.Repeat("[", 3000), "   ", "\u200b\u200d", "",
	"https://\u0430pple.example/ http://[::1]:80/ https://a.example\u202e/x",
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// evil fills every place of a message that an agent writes with s.
func evil(s string) []string {
	q, short := quoted(s), s
	if runes := []rune(s); len(runes) > 200 {
		short = string(runes[:200])
	}
	title := quoted(short)
	if short == "" {
		title = `" "`
	}
	common := fmt.Sprintf(`"title":%s,"body":%s,"tags":[%s],"context":[{"kind":"text","text":%s},`+
		`{"kind":"data","data":{%s:[%s,{"k":%s}],"n":{"a":{"b":{"c":{"d":{"e":%s}}}}}}},`+
		`{"kind":"file","file":{"uri":%s,"name":%s,"mime_type":%s}},{"kind":"file","file":{"uri":"https://f.example/x","name":%s}}]`,
		title, q, q, q, q, q, q, q, nonEmpty(s), q, q, q)
	resolvers := `"allowed_resolvers":["human:owner",` + quoted("human:"+s+"x") + `]`
	return []string{
		`"type":"notify",` + common,
		`"type":"ask",` + common + fmt.Sprintf(`,"request":{"mode":"select","options":[{"value":%s,"label":%s,"description":%s},`+
			`{"value":"b","label":%s}],"permissions":{"allow_edit":true},%s}`, q, q, q, q, resolvers),
		`"type":"ask",` + common + fmt.Sprintf(`,"request":{"mode":"input","schema":{"properties":{%s:{"type":"string","title":%s,`+
			`"description":%s,"default":%s},"e":{"enum":[%s,"x"]},"j":{"default":{%s:%s}},"s":{"oneOf":[{"const":%s,"title":%s},`+
			`{"const":1}]}}},%s}`, q, q, q, q, q, q, q, q, q, resolvers),
		`"type":"task",` + common + fmt.Sprintf(`,"action":{"instructions":%s,"verification":%s,"checklist":[{"text":%s,"done":true}],%s}`,
			nonEmpty(s), q, q, resolvers),
	}
}

func nonEmpty(s string) string {
	if s == "" {
		return `"-"`
	}
	return quoted(s)
}

// sendEvil submits what the hub takes of such messages, and returns the ids.
func (r *rig) sendEvil(s string) []string {
	r.t.Helper()
	var ids []string
	for _, members := range evil(s) {
		if id, err := r.trySend(r.agent, members); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

func TestNothingOfAnAgentWorksOnThePage(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	sent := 0
	for _, s := range hostile {
		ids := r.sendEvil(s)
		sent += len(ids)
		for _, id := range ids {
			calm(r.get("/inbox/" + id).is(http.StatusOK))
		}
		calm(r.get("/inbox").is(http.StatusOK))
		for _, id := range ids {
			calm(r.reply(id, url.Values{"do": {"other"}, "other": {s}, "comment": {s}, "f0": {s}, "json": {s}}))
			calm(r.reply(id, url.Values{"do": {"json"}, "json": {s}, "f2": {s}, "comment": {s}}))
			calm(r.reply(id, url.Values{"do": {"decline"}, "comment": {s}}))
			calm(r.reply(id, url.Values{"do": {"complete"}, "comment": {s}}))
			calm(r.get("/inbox/" + id).is(http.StatusOK))
			calm(r.get("/inbox?done=" + id).is(http.StatusOK))
		}
	}
	if want := 3 * len(hostile); sent < want {
		t.Errorf("the hub took %d messages, want at least %d: the test tests too little", sent, want)
	}
}

// calm holds a page to what no text may do: reorder its neighbours, or end the element that it stands in. Everything else
// is held by sound, on each page that comes.
func calm(a *answer) {
	a.t.Helper()
	for n := range a.root.Descendants() {
		if n.Type != html.TextNode || n.Parent.Data == "textarea" {
			continue // what is typed, or is to be sent as it stands, is kept to the letter
		}
		if i := strings.IndexFunc(n.Data, meddles); i >= 0 {
			a.t.Errorf("a text on the page meddles with its neighbours: %q", n.Data[max(0, i-20):min(len(n.Data), i+20)])
		}
	}
	if n := strings.Count(strings.ToLower(a.body), "<script"); n > 2 { // our own, see sound
		a.t.Errorf("the page holds %d <script", n)
	}
}

func meddles(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}

func TestAgentIdsAreIsolated(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	for i, id := range []string{"שלום", `<script>x</script>`, strings.Repeat("x", 200), "عربي"} {
		agent := r.newAgent(id)
		doc := fmt.Sprintf(`"type":"ask","title":"Q %d","request":{"mode":"confirm","allowed_resolvers":["human:owner"]}`, i)
		sent, err := r.trySend(agent, doc)
		if err != nil {
			t.Logf("the hub takes no agent %q: %v", id, err)
			continue
		}
		p := r.get("/inbox/" + sent).is(http.StatusOK)
		calm(p)
		if got := p.find("bdi", "class", "agent"); len(got) == 0 {
			t.Errorf("the agent %q does not stand isolated", id)
		}
	}
}

func TestLinksSayWhereTheyLead(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	id := r.send(`"type":"notify","title":"Links","body":` + quoted("[bank](https://evil.example/x) https://plain.example/y "+
		"<https://user@evil2.example/> ![alt text](https://img.example/p.gif) [mail](mailto:a@b.example) "+
		"[local](/settings) [js](javascript:x) [idn](https://\u0430pple.example/) [odd](https://good.example@bad.example/)") +
		`,"context":[{"kind":"data","data":{"u":"https://data.example/z","t":"see https://no.example"}},` +
		`{"kind":"file","file":{"uri":"https://files.example/a.txt","name":"a.txt","mime_type":"text/plain"}},` +
		`{"kind":"file","file":{"uri":"javascript:alert(1)","name":"b.txt"}}]`)
	p := r.get("/inbox/" + id).is(http.StatusOK)
	p.says("bank (evil.example)", "alt text (img.example)", "mail (mailto)", "local (/settings)", "js (javascript:x)",
		`idn (\u0430pple.example)`, "odd (bad.example)", "a.txt (files.example) type text/plain",
		"b.txt not a web address, so no link: javascript:alert(1)")
	var away []string
	for _, a := range p.find("a", "", "") {
		if to := attr(a, "href"); !strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "#") {
			away = append(away, to)
		}
	}
	if len(away) != 9 {
		t.Errorf("%d links lead away, want 9: %q", len(away), away)
	}
	if len(p.find("img", "", "")) != 1 {
		t.Error("an image of the agent is loaded")
	}
}

func TestMarkdownOfAnAgent(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	id := r.send(`"type":"notify","title":"M","body":` + quoted("# Top\n\nA **bold** ~~old~~ `code`.\n\n> quote\n\n3. three\n4. four\n\n"+
		"| h |\n|---|\n| c |\n\n```go\nif a < b {}\n```\n\n<u>html</u>"))
	p := r.get("/inbox/" + id).is(http.StatusOK)
	for name, want := range map[string]string{"strong": "bold", "del": "old", "blockquote": "quote", "td": "c", "th": "h"} {
		if got := p.find(name, "", ""); len(got) == 0 || text(got[len(got)-1]) != want {
			t.Errorf("<%s> does not hold %q", name, want)
		}
	}
	p.says("if a < b {}", "<u>html</u>")
	if got := p.find("ol", "start", "3"); len(got) != 1 {
		t.Error("the list does not begin with 3")
	}
	slow := r.send(`"type":"notify","title":"M","body":` + quoted(strings.Repeat(">", 100000)))
	r.get("/inbox/" + slow).is(http.StatusOK)
}

func TestDataIsShownAsWhatItIs(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	deep := strings.Repeat(`{"d":`, 30) + `"bottom"` + strings.Repeat("}", 30)
	var many []string
	for i := range 60 {
		many = append(many, strconv.Itoa(i))
	}
	id := r.send(`"type":"notify","title":"Data","context":[{"kind":"data","data":{"z":1.50,"a":[true,null,{"k":"v"}],"empty":{},` +
		`"lines":"one\ntwo"}},{"kind":"data","data":{"deep":` + deep + `}},{"kind":"data","data":{"many":[` + strings.Join(many, ",") +
		`]}},{"kind":"text","text":` + quoted(strings.Repeat("line\n", 40)) + `}]`)
	p := r.get("/inbox/" + id).is(http.StatusOK)
	p.says("z1.50", "true", "null", "kv", "empty {}", "bottom", "Data, 60 values", "Text, 40 lines")
	p.lacks("[object Object]", "map[")
	page := text(p.root)
	if strings.Index(page, "1.50") > strings.Index(page, "true") {
		t.Error("the members are not in the agent's order")
	}
	if got := len(p.find("details", "class", "part")); got != 2 {
		t.Errorf("%d parts are folded, want 2", got)
	}
}

// FuzzNoTextOfAnAgentIsMarkup holds every page to sound and calm whatever an agent writes, wherever it writes it.
func FuzzNoTextOfAnAgentIsMarkup(f *testing.F) {
	for _, s := range hostile[:6] { // TestNothingOfAnAgentWorksOnThePage tries all of them
		f.Add(s)
	}
	r := signedIn(f)
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 2000 || !utf8.ValidString(s) {
			t.Skip("as long as it needs to be, and text")
		}
		r := &rig{
			t: t, hub: r.hub, owner: r.owner, agent: r.agent, server: r.server, browser: r.browser, now: r.clock(), n: fresh(r),
		}
		for _, id := range r.sendEvil(s) {
			calm(r.get("/inbox/" + id).is(http.StatusOK))
			calm(r.reply(id, url.Values{"do": {"json"}, "json": {s}, "f0": {s}, "comment": {s}}))
			calm(r.reply(id, url.Values{"do": {"decline"}, "comment": {s}}))
			calm(r.reply(id, url.Values{"do": {"dismiss"}, "comment": {s}}))
			calm(r.get("/inbox?done=" + id).is(http.StatusOK))
		}
	})
}

// fresh is where a next run's keys begin.
func fresh(r *rig) int {
	r.n += 10
	return r.n
}

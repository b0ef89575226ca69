package inbox_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

const aDiff = "diff --git a/orders.sql b/orders.sql\n--- a/orders.sql\n+++ b/orders.sql\n@@ -1,3 +1,3 @@ create\n alter table orders\n" +
	"--- a comment that goes\n+++ one that comes <b>\n end;\n\\ No newline at end of file\n@@ -9 +9 @@\n-\u202eold\n+new\n"

// attached is the page of a notify with these parts.
func (r *rig) attached(parts ...string) *answer {
	r.t.Helper()
	return r.get("/inbox/" + r.send(`"type":"notify","title":"Context","context":[`+strings.Join(parts, ",")+`]`)).is(http.StatusOK)
}

func textPart(s string) string { return `{"kind":"text","text":` + quoted(s) + `}` }
func dataPart(s string) string { return `{"kind":"data","data":` + s + `}` }

func TestChangesAreShownAsChanges(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	for name, part := range map[string]string{
		"text": textPart(aDiff), "data": dataPart(quoted(aDiff)), "within data": dataPart(`{"file":"orders.sql","diff":` + quoted(aDiff) + `}`),
	} {
		p := r.attached(part)
		calm(p)
		pre := p.find("pre", "class", "diff")
		if len(pre) != 1 {
			t.Errorf("%s: %d changes are shown, want one", name, len(pre))
			continue
		}
		var added, removed []string
		for n := range pre[0].Descendants() {
			switch n.Data {
			case "ins":
				added = append(added, text(n))
			case "del":
				removed = append(removed, text(n))
			}
		}
		if got, want := fmt.Sprintf("%q", added), `["+++ one that comes <b>" "+new"]`; got != want {
			t.Errorf("%s: what comes is %s, want %s", name, got, want)
		}
		if got, want := fmt.Sprintf("%q", removed), `["--- a comment that goes" "-�old"]`; got != want {
			t.Errorf("%s: what goes is %s, want %s", name, got, want)
		}
		if got := strings.Count(rawTexts(pre[0]), "\n"); got != strings.Count(aDiff, "\n") {
			t.Errorf("%s: %d lines are shown, want %d", name, got, strings.Count(aDiff, "\n"))
		}
	}
	long := "@@ -1,60 +1,60 @@\n" + strings.Repeat("-a\n+b\n", 60)
	r.attached(textPart(long)).says("Changes, 121 lines, 60 added and 60 removed")
}

func rawTexts(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

func TestWhatIsNoChangeIsShownAsText(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	for _, s := range []string{
		"+ good\n- bad\n", "@@ that is no hunk @@\n+a\n", "--- a\n+++ b\n", "@@ -1 +1 @@\n same\n", "x\n@@ -1,2 +1,2 @@ ", "@@ ",
		"@@ -" + strings.Repeat("9", 400) + ",1 +1 @@ \n=", strings.Repeat("@@ -1 +1 @@\n+a\n", 5000),
	} {
		p := r.attached(textPart(s))
		if len(p.find("pre", "class", "diff")) != 0 {
			t.Errorf("%.40q is shown as a change", s)
		}
	}
}

func TestArraysOfFlatObjectsAreTables(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	p := r.attached(dataPart(`[{"name":"a","p99":1.50,"ok":true},{"name":"b","p99":9007199254740993},{"ok":null,"name":"<i>","p99":1e3}]`))
	var cells []string
	for _, name := range []string{"th", "td"} {
		for _, c := range p.find(name, "", "") {
			cells = append(cells, text(c))
		}
	}
	if got, want := fmt.Sprintf("%q", cells), `["name" "p99" "ok" "a" "1.50" "true" "b" "9007199254740993" "" "<i>" "1e3" "null"]`; got != want {
		t.Errorf("the table holds\n%s, want\n%s", got, want)
	}
	for _, s := range []string{
		`[{"a":1}]`, `[{"a":1},{"a":2}]`, `[{"a":1,"b":{"c":1}},{"a":1,"b":{"c":1}}]`, `[{"a":1,"b":2},7]`, `[{"a":1,"b":2},{"c":1,"d":2},{"e":3,"f":4}]`,
		`[{"a":1,"b":"` + strings.Repeat("x", 61) + `"},{"a":1,"b":"y"}]`, `[{"a":1,"b":"x\ny"},{"a":1,"b":"y"}]`, `[[1,2],[3,4]]`,
	} {
		if p := r.attached(dataPart(s)); len(p.find("table", "", "")) != 0 {
			t.Errorf("%s is shown as a table", s)
		}
	}
}

func TestDeepAndLongDataAreShownWhole(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	deep := strings.Repeat(`{"down":`, 60) + `9007199254740993` + strings.Repeat("}", 60)
	p := r.attached(dataPart(deep), dataPart(`{"log":`+quoted(strings.Repeat("line\n", 30))+`,"one":`+quoted(strings.Repeat("long ", 600))+`}`),
		textPart(strings.Repeat("ä", 2500)))
	p.says("9007199254740993", "Text, 30 lines", "Text, 3000 characters", "Text, 2500 characters")
	if got := len(p.find("details", "", "")); got < 3 {
		t.Errorf("%d blocks are folded, want 3 at least", got)
	}
	r.send(`"type":"notify","title":"Deep","context":[` + dataPart(strings.Repeat("[", 60)+strings.Repeat("]", 60)) + `]`)
	if _, err := r.trySend(r.agent, `"type":"notify","title":"Deep","context":[`+dataPart(strings.Repeat("[", 1000)+strings.Repeat("]", 1000))+`]`); err == nil {
		t.Error("the hub takes data a thousand levels deep, which nothing here has been tried with")
	}
}

// The work of a page is bounded by how many elements it has, and by how much longer it is than what was sent.
func TestNoDataKeepsAPersonWaiting(t *testing.T) {
	t.Parallel()
	const size = 120 << 10
	for name, part := range map[string]string{
		"numbers":         dataPart("[" + strings.TrimSuffix(strings.Repeat("1,", size/2), ",") + "]"),
		"empty objects":   dataPart("[" + strings.TrimSuffix(strings.Repeat("{},", size/3), ",") + "]"),
		"a table":         dataPart("[" + strings.TrimSuffix(strings.Repeat(`{"a":1,"b":2},`, size/14), ",") + "]"),
		"deep everywhere": dataPart("[" + strings.TrimSuffix(strings.Repeat(strings.Repeat("[", 50)+strings.Repeat("]", 50)+",", size/101), ",") + "]"),
		"members":         dataPart("{" + members(size/12) + "}"),
		"short lines":     textPart(strings.Repeat("x\n", size/4)),
		"changes":         textPart("@@ -1,9999 +1,9999 @@\n" + strings.Repeat("+\n", 4990)),
		"more changes":    textPart("@@ -1,9999 +1,9999 @@\n" + strings.Repeat("+\n", 30_000)),
		"heads of hunks":  textPart(strings.Repeat("@@ -1 +1 @@\n", 4990)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := signedIn(t)
			parts := part
			if len(part) < 60<<10 {
				parts += "," + part
			}
			p := r.attached(parts)
			elements := 0
			for n := range p.root.Descendants() {
				if n.Type == html.ElementNode {
					elements++
				}
			}
			if elements > 24_000 || len(p.body) > 12*len(parts)+64<<10 {
				t.Errorf("parts of %d bytes make a page of %d bytes and %d elements", len(parts), len(p.body), elements)
			}
		})
	}
}

func members(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + strconv.Itoa(i) + `":null`)
	}
	return b.String()
}

func BenchmarkMessageOfManyParts(b *testing.B) {
	r := signedIn(b)
	part := dataPart("{" + members(1200) + "}")
	id := r.send(`"type":"notify","title":"Many","context":[` + strings.TrimSuffix(strings.Repeat(part+",", 16), ",") + `]`)
	for b.Loop() {
		r.get("/inbox/" + id)
	}
}

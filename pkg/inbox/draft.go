package inbox

import (
	"html/template"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// builder makes the fields of an ask of mode input. form is what was sent, or nil.
func (v *visit) builder(m *hub.Reading, form url.Values) *builder {
	b := newBuilder(m.Message.Request.Schema, v.words, v.clock.now)
	b.form = form
	return b
}

// keepFields takes over what was typed into the fields, and looks for what is wrong with it where they are sent.
func (v *visit) keepFields(d *draft, sent bool) {
	r := reader{words: v.words, now: v.clock.now, form: v.r.PostForm}
	for _, f := range d.fields {
		if r.read(f); !sent {
			f.forgive()
		}
	}
}

// reshape gives an array of the form a row more or one less, where that is what was pressed, and keeps what was typed.
func (v *visit) reshape(m *hub.Reading, d *draft) bool {
	form := v.r.PostForm
	more, adds := strings.CutPrefix(form.Get("do"), doMore)
	less, removes := strings.CutPrefix(form.Get("do"), doLess)
	list, at := more, -1
	if removes {
		list, at = rowOf(less)
	}
	if !adds && !removes || len(d.fields) == 0 || !controlName.MatchString(list) || removes && at < 0 {
		return false
	}
	if removes {
		removeRow(form, list, at)
	} else {
		form.Set(list, strconv.Itoa(rowsOf(form, list)+1))
	}
	d.fields = v.builder(m, form).fields()
	d.readTexts(form, m)
	v.keepFields(d, false)
	if f := named(d.fields, list); f != nil && f.Control == controlList {
		f.focus(at)
	}
	return true
}

// controlName is the form of the names of fields: f and numbers, one for each step inwards.
var controlName = regexp.MustCompile(`^f[0-9]+(\.[0-9]+)*$`)

// rowsOf is how many rows of an array came with a form.
func rowsOf(form url.Values, list string) int {
	n, err := strconv.Atoi(form.Get(list))
	if err != nil {
		return 0
	}
	return min(max(n, 0), maxRows)
}

// rowOf splits the name of a row into that of its array and its number, or -1.
func rowOf(name string) (list string, at int) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return name, -1
	}
	at, err := strconv.Atoi(name[i+1:])
	if err != nil {
		return name, -1
	}
	return name[:i], at
}

// removeRow takes a row out of a form that came. Those behind it move up.
func removeRow(form url.Values, list string, at int) {
	moved := url.Values{}
	for name, sent := range form {
		rest, ok := strings.CutPrefix(name, list+".")
		token, inner, _ := strings.Cut(rest, ".")
		i, err := strconv.Atoi(token)
		if !ok || err != nil || i < at {
			continue
		}
		delete(form, name)
		if i > at {
			moved[strings.TrimSuffix(list+"."+strconv.Itoa(i-1)+"."+inner, ".")] = sent
		}
	}
	for name, sent := range moved {
		form[name] = sent
	}
	form.Set(list, strconv.Itoa(max(rowsOf(form, list)-1, 0)))
}

// focus has the page begin at a row: its last one, or that which took the place of the one that went.
func (f *field) focus(at int) {
	if at < 0 {
		at = len(f.Rows) - 1
	}
	at = min(at, len(f.Rows)-1)
	if at < 0 {
		f.Focus = true
		return
	}
	row := f.Rows[at]
	for len(row.Fields) > 0 {
		row = row.Fields[0]
	}
	row.Focus = true
}

// named returns the field whose control has that name, or nil.
func named(fields []*field, name string) *field {
	for _, f := range fields {
		if f.Name == name {
			return f
		}
		if strings.HasPrefix(name, f.Name+".") {
			if g := named(append(f.Fields[:len(f.Fields):len(f.Fields)], f.Rows...), name); g != nil {
				return g
			}
		}
	}
	return nil
}

func countWrong(fields []*field) int {
	n := 0
	for _, f := range fields {
		if f.Wrong != "" {
			n++
		}
		n += countWrong(f.Fields) + countWrong(f.Rows)
	}
	return n
}

func anyList(fields []*field) bool {
	return slices.ContainsFunc(fields, func(f *field) bool { return f.Control == controlList || anyList(f.Fields) })
}

// problem is one field with what is wrong in it.
type problem struct {
	Name        string // of the control
	Label, Says template.HTML
}

// problems lists what is wrong, in the order of the form.
func problems(fields []*field, above template.HTML, words catalogue) []problem {
	var out []problem
	for _, f := range fields {
		path := f.path(above, words)
		if f.Wrong != "" {
			out = append(out, problem{Name: f.Name, Label: path, Says: f.Wrong})
		}
		out = append(append(out, problems(f.Fields, path, words)...), problems(f.Rows, path, words)...)
	}
	return out
}

// refuse puts what the hub found wrong where it belongs: at a field, at the JSON, or above all of them.
func (d *draft) refuse(e *ma2h.Error, words catalogue) {
	reason := words.html("warning.refused", clean(e.Message).short(2*maxLabel))
	if d.Secret {
		reason = words.html("warning.refused.secret") // the hub's words might quote it
	}
	if d.asJSON {
		d.JSONWrong = reason
		return
	}
	if f := d.at(e.Field); f != nil {
		_, because, _ := strings.Cut(e.Message, ": ")
		f.refuse(because, words)
		return
	}
	d.Wrong = reason
}

// at returns the field that a place in the answer belongs to: the innermost that there is one for, or nil.
func (d *draft) at(pointer string) *field {
	rest, ok := strings.CutPrefix(pointer, "/value/")
	if !ok {
		return nil
	}
	var found *field
	fields := d.fields
	for _, token := range ma2h.Tokens("/" + rest) {
		next := inner(found, fields, token)
		if next == nil {
			return found
		}
		found, fields = next, next.Fields
	}
	return found
}

// inner returns what a step of a place leads to: a row of an array, or a field of an object.
func inner(of *field, fields []*field, token string) *field {
	if of != nil && of.Control == controlList {
		i, err := strconv.Atoi(token)
		if err != nil || i < 0 || i >= len(of.sent) {
			return nil
		}
		return of.Rows[of.sent[i]]
	}
	for _, f := range fields {
		if f.Property == token {
			return f
		}
	}
	return nil
}

// withoutSecrets returns an answer in JSON as it may be shown again. What cannot be read may hold secrets anywhere.
func withoutSecrets(typed string, schema []byte) string {
	n, err := parseNode([]byte(typed))
	if err != nil {
		return ""
	}
	covered := cover(n, ma2h.SecrecyOf(schema))
	if covered == nil {
		return ""
	}
	return string(bare(covered))
}

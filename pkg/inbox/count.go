package inbox

import "html/template"

// maxCounted is how many fields of a form a row of the list counts. A longer form has more than that.
const maxCounted = 99

// formSize says how much there is to fill in, without making the form of it.
func (v *visit) formSize(schema []byte) template.HTML {
	root, err := parseNode(schema)
	if err != nil {
		return v.words.counted("row.form", 0) // the hub takes none such
	}
	n := countFields(flatten(root, root, 0), root, 0)
	if n > maxCounted {
		return v.words.html("row.form.more", maxCounted)
	}
	return v.words.counted("row.form", n)
}

// countFields counts on from n, up to one more than a row counts; an array counts once.
func countFields(s, root *node, n int) int {
	for _, p := range propertiesOf(s) {
		if n > maxCounted {
			return n
		}
		inner, _ := withoutNull(flatten(p.schema, root, 0), root)
		if control, _ := controlOf(inner); control == controlObject && choiceList(inner, root) == nil {
			n = countFields(inner, root, n)
		} else {
			n++
		}
	}
	return n
}

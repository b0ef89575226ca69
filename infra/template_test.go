package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTemplate holds the whole templates to those under testdata, so that whoever reads a change sees what it does to a
// deployment. Run go generate to write them anew.
func TestTemplate(t *testing.T) {
	each(t, func(t *testing.T, s *synthesis) {
		if *templates != "" {
			name := s.Stage.Stack + ".template.json"
			if err := os.WriteFile(filepath.Join(*templates, name), []byte(text(s.Template.whole)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		file := filepath.Join("testdata", s.Stage.Stack+".json")
		got := s.readable(t)
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s differs; if that is meant, run go generate (-want +got)\n%s", file, diff)
		}
	})
}

// readable writes a template for people: names in place of the hashes of code, definitions as the JSON that they are, and
// what is short in one line.
func (s *synthesis) readable(t *testing.T) string {
	t.Helper()
	var whole doc
	if err := json.Unmarshal([]byte(text(s.Template.whole)), &whole); err != nil {
		t.Fatal(err)
	}
	resources, _ := whole["Resources"].(doc)
	for _, r := range resources {
		p, _ := at(r, "Properties").(doc)
		if name, ok := p["FunctionName"].(string); ok {
			p["Code"] = strings.TrimPrefix(name, s.Stage.Stack+"-") + ".zip"
		}
		if definition, ok := p["DefinitionString"].(string); ok {
			var parsed any
			if err := json.Unmarshal([]byte(definition), &parsed); err != nil {
				t.Errorf("a definition: %v", err)
			}
			p["DefinitionString"] = parsed
		}
	}
	var b strings.Builder
	indented(&b, whole, "", "")
	return b.String() + "\n"
}

// width is how long a line may be that holds more than one value.
const width = 120

func indented(b *strings.Builder, value any, indent, before string) {
	if line := text(value); len(indent)+len(before)+len(line) <= width {
		b.WriteString(before + line)
		return
	}
	deeper := indent + "  "
	switch v := value.(type) {
	case doc:
		b.WriteString(before + "{\n")
		for i, name := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				b.WriteString(",\n")
			}
			b.WriteString(deeper)
			indented(b, v[name], deeper, text(name)+": ")
		}
		b.WriteString("\n" + indent + "}")
	case []any:
		b.WriteString(before + "[\n")
		for i, one := range v {
			if i > 0 {
				b.WriteString(",\n")
			}
			b.WriteString(deeper)
			indented(b, one, deeper, "")
		}
		b.WriteString("\n" + indent + "]")
	default:
		b.WriteString(before + text(v))
	}
}

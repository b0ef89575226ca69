package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// finding is a line of the report.
type finding struct{ rule, resource, compliance, reason string }

// findings reads the report that stands beside the template.
func (s *synthesis) findings(t *testing.T) []finding {
	t.Helper()
	file, err := os.Open(filepath.Join(s.Folder, "AwsSolutions--"+s.Stage.Stack+"-NagReport.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var all []finding
	for _, l := range lines[1:] {
		all = append(all, finding{l[0], l[1], l[2], l[3]})
	}
	return all
}

// TestNagFindsNothingWithoutAReason reads the report: what does not comply is suppressed, for a reason, and each
// suppression is needed.
func TestNagFindsNothingWithoutAReason(t *testing.T) {
	each(t, func(t *testing.T, s *synthesis) {
		compliant, needed := 0, map[string]bool{}
		for _, f := range s.findings(t) {
			switch f.compliance {
			case "Compliant":
				compliant++
			case "Suppressed":
				needed[f.rule] = true
				if len(f.reason) < 40 {
					t.Errorf("%s at %s is suppressed because %q", f.rule, f.resource, f.reason)
				}
			default:
				t.Errorf("%s at %s is %s", f.rule, f.resource, f.compliance)
			}
		}
		if compliant < 40 {
			t.Errorf("%d compliant findings; did the rules look at anything?", compliant)
		}
		if diff := cmp.Diff(suppressed(s.Template.whole), needed); diff != "" {
			t.Errorf("rules (-suppressed +found)\n%s", diff)
		}
	})
}

// suppressed returns the rules that anything in a template suppresses.
func suppressed(value any) map[string]bool {
	found := map[string]bool{}
	switch v := value.(type) {
	case doc:
		if rules, ok := at(v, "cdk_nag", "rules_to_suppress").([]any); ok {
			for _, r := range rules {
				found[at(r, "id").(string)] = true
			}
		}
		for _, member := range v {
			for rule := range suppressed(member) {
				found[rule] = true
			}
		}
	case []any:
		for _, one := range v {
			for rule := range suppressed(one) {
				found[rule] = true
			}
		}
	}
	return found
}

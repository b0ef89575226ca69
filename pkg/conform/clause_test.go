package conform_test

import (
	"regexp"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/mash-hub/mash/pkg/conform"
)

// vectors are those whose obligations the clauses are about.
var vectors = []string{"002", "007", "010", "019", "020", "021", "022", "023", "024", "026", "027", "028", "029"}

func TestEachClauseHasANameOfItsOwn(t *testing.T) {
	t.Parallel()
	var names, about []string
	for _, c := range conform.Clauses() {
		m := regexp.MustCompile(`^dp-(\d{3})\.\d+[a-z]?$`).FindStringSubmatch(c.Name)
		if m == nil || c.Title == "" || c.Section == "" || utf8.RuneCountInString(c.Title) > 60 {
			t.Errorf("the clause %+v", c)
			continue
		}
		names, about = append(names, c.Name), append(about, m[1])
	}
	if got := slices.Compact(about); !slices.Equal(got, vectors) {
		t.Errorf("clauses of the vectors %v, want %v", got, vectors)
	}
	slices.Sort(names)
	if n := len(slices.Compact(names)); n != len(conform.Clauses()) {
		t.Errorf("%d names for %d clauses", n, len(conform.Clauses()))
	}
}

package conform

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

// Clause is one thing that the protocol obliges a hub, or an agent, to.
type Clause struct {
	Name    string // dp-019.5
	Title   string // what it holds the hub to, in a few words
	Section string // of the specification, without the sign

	test   func(*trial)
	tenant doc  // what the tenant is like, where there is one
	alone  bool // it changes what others of the account depend on
}

// Clauses returns all clauses, in the order of their names.
func Clauses() []Clause {
	all := slices.Concat(dp002(), dp007(), dp010(), dp019(), dp020(), dp021(), dp022(), dp023(), dp024(), dp026(), dp027(), dp028(), dp029())
	slices.SortStableFunc(all, func(a, b Clause) int {
		x, y := place(a.Name), place(b.Name)
		return slices.Compare(x[:], y[:])
	})
	return all
}

var nameForm = regexp.MustCompile(`^dp-(\d+)\.(\d+)([a-z]?)$`)

// place is what a name is ordered by.
func place(name string) [3]int {
	m := nameForm.FindStringSubmatch(name)
	if m == nil {
		panic(fmt.Sprintf("conform: a clause is called %q", name))
	}
	vector, _ := strconv.Atoi(m[1])
	number, _ := strconv.Atoi(m[2])
	letter := 0
	if m[3] != "" {
		letter = int(m[3][0])
	}
	return [3]int{vector, number, letter}
}

// Verdict is how a clause ended.
type Verdict string

// The verdicts. What cannot be asked of a hub is not applicable: the text leaves it to the hub, or there is no way to bring
// it about here.
const (
	Passed        Verdict = "ok"
	Failed        Verdict = "FAILED"
	NotApplicable Verdict = "n/a"
)

// Result is a clause and its verdict.
type Result struct {
	Clause  string  `json:"clause"`
	Title   string  `json:"title"`
	Section string  `json:"section"`
	Verdict Verdict `json:"verdict"`
	Why     string  `json:"why,omitzero"` // of what is not applicable

	// Of a failure: what the text wants, and the last request and answer before it showed.
	Want string `json:"want,omitzero"`
	Sent string `json:"sent,omitzero"`
	Came string `json:"came,omitzero"`
}

// Count is how many clauses had each verdict.
func Count(results []Result) map[Verdict]int {
	n := map[Verdict]int{}
	for _, r := range results {
		n[cmp.Or(r.Verdict, Failed)]++
	}
	return n
}

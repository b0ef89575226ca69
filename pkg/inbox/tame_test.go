package inbox_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Whatever an agent writes, its page comes in a moment and is not many times as long.
func TestNoBodyKeepsAPersonWaiting(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"emphasis that never ends": strings.Repeat("*a_", 80_000),
		"emphasis within emphasis": strings.Repeat("a**b_c*", 30_000),
		"underscores":              strings.Repeat("_a*b", 50_000),
		"struck out":               strings.Repeat("~a~~", 50_000),
		"a table of many rows":     strings.Repeat("|x", 200) + "|\n" + strings.Repeat("|-", 200) + "|\n" + strings.Repeat("|x\n", 6000),
		"a table of many columns":  strings.Repeat("|x", 1000) + "|\n" + strings.Repeat("|-", 1000) + "|\n" + strings.Repeat("|x\n", 1500),
		"quotes within quotes":     strings.Repeat(">", 200_000),
		"brackets within brackets": strings.Repeat("[", 200_000),
		"many short lines":         strings.Repeat("x\n", 80_000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := signedIn(t)
			id := r.send(`"type":"notify","title":"Long","body":` + strconv.Quote(body))
			began := time.Now()
			page := r.get("/inbox/" + id).is(http.StatusOK)
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("the page took %s", took)
			}
			if n := len(page.body); n > 8*len(body)+64<<10 {
				t.Errorf("the page of a body of %d bytes has %d", len(body), n)
			}
		})
	}
}

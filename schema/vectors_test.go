//go:build cases

package schema_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// TestSharedVectors runs the schema-validation vectors of a conformance folder, which the environment variable CASES
// names. An empty folder is a failure.
func TestSharedVectors(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("CASES")
	paths, err := filepath.Glob(filepath.Join(folder, "vectors", "sv-*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Fatalf("no vectors in %s", filepath.Join(folder, "vectors"))
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".json"), func(t *testing.T) {
			t.Parallel()
			runVector(t, path)
		})
	}
	t.Logf("%d vectors", len(paths))
}

func runVector(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, vector, perr := ma2h.ParseObject(b)
	if perr != nil {
		t.Fatal(perr)
	}
	expect, _ := vector["expect"].(string)
	if expect != "valid" && expect != "invalid" {
		t.Fatalf("expect is %q, want valid or invalid", expect)
	}
	named, _ := vector["target"].(string)
	all := schemas(t)
	tg := parseTarget(named)
	if all[tg] == nil {
		t.Fatalf("there is no schema for target %q", named)
	}
	check(t, all, tg, vector["input"], expect == "valid")
}

// parseTarget reads [vVERSION/]NAME.schema.json[#FRAGMENT]; a target without a version means 0.4.
func parseTarget(s string) target {
	minor := 4
	if version, rest, ok := strings.Cut(s, "/"); ok && strings.HasPrefix(version, "v0.") {
		minor, _ = strconv.Atoi(strings.TrimPrefix(version, "v0."))
		s = rest
	}
	return target{ma2h.Kind(strings.Replace(s, ".schema.json", "", 1)), minor}
}

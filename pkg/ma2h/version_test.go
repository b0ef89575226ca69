package ma2h_test

import (
	"strings"
	"testing"

	"github.com/mash-hub/mash/pkg/ma2h"
)

func TestParseVersionReadsCanonicalVersions(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int{"0.0": 0, "0.1": 1, "0.6": 6, "0.9": 9, "0.10": 10, "0.600": 600} {
		got, err := ma2h.ParseVersion(s)
		if err != nil || got.Minor != want {
			t.Errorf("ParseVersion(%q) = %d, %v, want %d", s, got.Minor, err, want)
		}
	}
}

// The major is looked at first: unknown means version_not_supported (behaviour 1; spec §10).
func TestParseVersionLooksAtTheMajorFirst(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"1.0", "2.6", "10.0", "1.03", "1.x", "1.", "9.9.9"} {
		if _, err := ma2h.ParseVersion(s); err == nil || err.Code != ma2h.CodeVersionNotSupported || err.Field != "/ma2h_version" {
			t.Errorf("ParseVersion(%q) = %v, want version_not_supported at /ma2h_version", s, err)
		}
	}
}

// A spelling that is not canonical, or malformed, is a validation_error, so that it slips past no gate (behaviour 2; spec
// §10).
func TestParseVersionRefusesOtherSpellings(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", "0", ".", "0.", ".6", "0.03", "0.00", "00.2", "01.2", "0.6 ", " 0.6", "0.6\n", "0.6.0", "0.x", "v0.6", "-0.6", "0.-6", "0.+6", "x", "1",
		"0.٦", "0." + strings.Repeat("9", 20), "0." + strings.Repeat("1", 1000), strings.Repeat("1", 1000) + ".0",
	} {
		if _, err := ma2h.ParseVersion(s); err == nil || err.Code != ma2h.CodeValidationError || err.Field != "/ma2h_version" {
			t.Errorf("ParseVersion(%q) = %v, want a validation_error at /ma2h_version", s, err)
		}
	}
}

func TestSchemaMinorIsTheNearestThereIs(t *testing.T) {
	t.Parallel()
	for minor, want := range map[int]int{0: 1, 1: 1, 3: 3, 6: 6, 7: 6, 99: 6} {
		if got := (ma2h.Version{Minor: minor}).SchemaMinor(); got != want {
			t.Errorf("Version{%d}.SchemaMinor() = %d, want %d", minor, got, want)
		}
	}
}

package ma2h_test

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/mash-hub/mash/pkg/ma2h"
)

func TestParseTimeReadsRFC3339(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]time.Time{
		"2026-03-01T08:00:00Z":            time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC),
		"2026-03-01T08:00:00.5Z":          time.Date(2026, 3, 1, 8, 0, 0, 500_000_000, time.UTC),
		"2026-03-01T08:00:00.123456789Z":  time.Date(2026, 3, 1, 8, 0, 0, 123_456_789, time.UTC),
		"2026-03-01T08:00:00.1234567891Z": time.Date(2026, 3, 1, 8, 0, 0, 123_456_789, time.UTC),
		"2026-03-01T08:00:00+02:00":       time.Date(2026, 3, 1, 6, 0, 0, 0, time.UTC),
		"2026-03-01T08:00:00.25-23:59":    time.Date(2026, 3, 2, 7, 59, 0, 250_000_000, time.UTC),
		"2024-02-29T23:59:59-00:00":       time.Date(2024, 2, 29, 23, 59, 59, 0, time.UTC),
		"0001-01-01T00:00:00Z":            time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC),
		"2026-03-01t08:00:00z":            time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC),
		"9999-12-31T23:59:59.999999999Z":  time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC),
		"9999-12-31T23:59:59+00:01":       time.Date(9999, 12, 31, 23, 58, 59, 0, time.UTC),
		"0000-01-01T00:00:00Z":            time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC),
		"0000-01-01T00:00:00-00:01":       time.Date(0, 1, 1, 0, 1, 0, 0, time.UTC),
	} {
		got, ok := ma2h.ParseTime(s)
		if !ok || !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("ParseTime(%q) = %v, %t, want %v", s, got, ok, want)
		}
	}
}

func TestParseTimeRefusesWhatIsNone(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", "now", "2026-03-01", "2026-03-01T08:00Z", "2026-03-01T08:00:00", "2026-03-01 08:00:00Z",
		"2026-3-1T08:00:00Z", "2026-03-01T8:00:00Z", "26-03-01T08:00:00Z", "2026-02-29T08:00:00Z", "2026-13-01T08:00:00Z", "2026-00-01T08:00:00Z",
		"2026-04-31T08:00:00Z", "2026-03-01T24:00:00Z", "2026-03-01T08:60:00Z", "2026-03-01T08:00:60Z", "2026-03-01T08:00:00.Z", "2026-03-01T08:00:00,5Z",
		"2026-03-01T08:00:00+0200", "2026-03-01T08:00:00+02", "2026-03-01T08:00:00+24:00", "2026-03-01T08:00:00+02:60", "2026-03-01T08:00:00Z ",
		" 2026-03-01T08:00:00Z", "2026-03-01T08:00:00ZZ", "2026-03-01T08:00:00\u0660Z", "+2026-03-01T08:00:00Z", "20266-03-01T08:00:00Z",
		"9999-12-31T23:59:59-00:01", "9999-12-31T00:01:00-23:59", "0000-01-01T00:00:00+00:01", "0000-01-01t23:58:59+23:59",
	} {
		if got, ok := ma2h.ParseTime(s); ok {
			t.Errorf("ParseTime(%q) = %v, want none", s, got)
		}
	}
}

func TestFormatTimeIsReadBack(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 8, 0, 0, 120_000_000, time.FixedZone("", 3600))
	const want = "2026-03-01T07:00:00.12Z"
	if got := ma2h.FormatTime(at); got != want {
		t.Errorf("FormatTime(%v) = %q, want %q", at, got, want)
	}
	if got, ok := ma2h.ParseTime(want); !ok || !got.Equal(at) {
		t.Errorf("ParseTime(%q) = %v, %t, want %v", want, got, ok, at)
	}
}

// FuzzParseTime: whatever is read can be kept and sent, and is then read as the same time.
func FuzzParseTime(f *testing.F) {
	for _, s := range []string{
		"2026-03-01T08:00:00.123456789Z", "9999-12-31T23:59:59-23:59", "9999-12-31T23:59:59.999999999+00:00", "0000-01-01T00:00:00+23:59",
		"0000-02-29T00:00:00Z", "0001-01-01T00:00:00Z", "2024-02-29t23:59:60z",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		at, ok := ma2h.ParseTime(s)
		if !ok {
			return
		}
		b, err := json.Marshal(struct{ At time.Time }{at})
		if err != nil {
			t.Fatalf("ParseTime(%q) = %v, which nobody can write: %v", s, at, err)
		}
		var stored struct{ At time.Time }
		if err := json.Unmarshal(b, &stored); err != nil || !stored.At.Equal(at) {
			t.Errorf("%v is stored as %s and read as %v, %v", at, b, stored.At, err)
		}
		if again, ok := ma2h.ParseTime(ma2h.FormatTime(at)); !ok || !again.Equal(at) {
			t.Errorf("ParseTime(FormatTime(%v)) = %v, %t", at, again, ok)
		}
	})
}

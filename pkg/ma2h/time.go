package ma2h

import (
	"strings"
	"time"
)

// lastYear is the last that RFC 3339 can write; the first is 0.
const lastYear = 9999

// ParseTime reads an RFC 3339 time. One that only its zone keeps within the years 0 to 9999 is none, since nobody could
// write it in UTC.
func ParseTime(s string) (time.Time, bool) {
	if !isTime(s) {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339Nano, strings.ToUpper(s))
	t = t.UTC()
	if err != nil || t.Year() < 0 || t.Year() > lastYear {
		return time.Time{}, false
	}
	return t, true
}

// FormatTime writes a time as the hub does everywhere: RFC 3339 in UTC.
func FormatTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// isTime says whether s has the form of an RFC 3339 date-time; T and Z may be small letters there. Go's own parser is
// more lenient in places.
func isTime(s string) bool {
	const form = "0000-00-00T00:00:00"
	if len(s) < len(form)+1 {
		return false
	}
	for i := range len(form) {
		digit := s[i] >= '0' && s[i] <= '9'
		small := form[i] == 'T' && s[i] == 't'
		if form[i] == '0' && !digit || form[i] != '0' && s[i] != form[i] && !small {
			return false
		}
	}
	rest := s[len(form):]
	if rest[0] == '.' {
		n := 1
		for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
			n++
		}
		if n == 1 {
			return false
		}
		rest = rest[n:]
	}
	return rest == "Z" || rest == "z" || isOffset(rest)
}

func isOffset(s string) bool {
	if len(s) != 6 || s[0] != '+' && s[0] != '-' || s[3] != ':' {
		return false
	}
	return isDigits(s[1:3]) && isDigits(s[4:]) && s[1:3] <= "23" && s[4:] <= "59"
}

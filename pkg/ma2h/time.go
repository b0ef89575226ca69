package ma2h

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

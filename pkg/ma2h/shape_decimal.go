package ma2h

import (
	"strconv"
	"strings"
)

// decimal is a JSON number taken apart, without rounding it: its digits, with or without a dot, times ten to the power
// of exponent.
type decimal struct {
	negative bool
	whole    string // digits before the dot, without leading zeros
	fraction string // digits after it, without trailing zeros
	exponent int
	extreme  string // the exponent where no int can hold it
}

// parseDecimal takes a JSON number apart. It allocates nothing.
func parseDecimal(s string) decimal {
	var d decimal
	s, d.negative = strings.CutPrefix(s, "-")
	mantissa := s
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		mantissa = s[:i]
		n, err := strconv.Atoi(s[i+1:])
		if err != nil {
			d.extreme = s[i+1:]
		}
		d.exponent = n
	}
	d.whole, d.fraction, _ = strings.Cut(mantissa, ".")
	d.whole = strings.TrimLeft(d.whole, "0")
	d.fraction = strings.TrimRight(d.fraction, "0")
	return d
}

func (d decimal) zero() bool { return d.whole == "" && d.fraction == "" }

// integer says whether nothing is left behind the dot once the exponent has moved it.
func (d decimal) integer() bool {
	switch {
	case d.zero():
		return true
	case d.extreme != "":
		return d.extreme[0] != '-'
	case d.fraction != "":
		return d.exponent >= len(d.fraction)
	}
	trailing := len(d.whole) - len(strings.TrimRight(d.whole, "0"))
	return d.exponent >= -trailing
}

// append writes the number so that equal numbers are written alike, whatever their spelling.
func (d decimal) append(b []byte) []byte {
	if d.zero() {
		return append(b, '0')
	}
	if d.negative {
		b = append(b, '-')
	}
	digits := strings.TrimLeft(d.whole+d.fraction, "0")
	exponent := d.exponent - len(d.fraction)
	short := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(short)
	b = append(b, short...)
	b = append(b, 'e')
	if d.extreme != "" {
		return append(b, d.extreme...)
	}
	return strconv.AppendInt(b, int64(exponent), 10)
}

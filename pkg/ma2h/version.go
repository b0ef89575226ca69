package ma2h

import (
	"strconv"
	"strings"
)

// Newest is the version that the hub mints its own objects in.
const Newest = "0.6"

// The minors at which something changed (spec §5.2, §10, §13, §14, §16).
const (
	minorHardened    = 2 // the hub gives ids; keys, resolution ids, resolvers; discovery and the error envelope
	MinorPush        = 3 // pushes are signed over the payload; the parity gate
	MinorInbound     = 4 // directives, acks, presence
	MinorInterAgent  = 5 // sessions, to, agent.session
	MinorAllowEdit   = 6 // permissions.allow_edit
	minorNewest      = 6
	minorOldest      = 1
	maxVersionLength = 32
)

// Version is a MAJOR.MINOR of the protocol whose major is 0.
type Version struct{ Minor int }

// ParseVersion reads the ma2h_version of a message. The major is looked at first: one that is not 0 is
// version_not_supported, whatever follows it. A malformed or non-canonical spelling (0.03, 00.2) is validation_error, so
// that it never slips past a gate (spec §10).
func ParseVersion(s string) (Version, *Error) {
	major, minor, dotted := strings.Cut(s, ".")
	if !dotted || !isDigits(major) || len(s) > maxVersionLength {
		return Version{}, versionMalformed()
	}
	if strings.TrimLeft(major, "0") != "" && major[0] != '0' {
		return Version{}, FieldErrorf(CodeVersionNotSupported, "/ma2h_version",
			"This hub speaks major version 0; send 0.1 to %s.", Newest)
	}
	n, err := strconv.Atoi(minor)
	if major != "0" || !isDigits(minor) || len(minor) > 1 && minor[0] == '0' || err != nil {
		return Version{}, versionMalformed()
	}
	return Version{Minor: n}, nil
}

func versionMalformed() *Error {
	return FieldErrorf(CodeValidationError, "/ma2h_version",
		"Write the version as MAJOR.MINOR without leading zeros, such as %q.", Newest)
}

// SchemaMinor returns the minor whose schemas a document of this version is held to: its own, or the nearest one there
// is.
func (v Version) SchemaMinor() int { return min(max(v.Minor, minorOldest), minorNewest) }

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

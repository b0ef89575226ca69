package ma2h

import (
	"crypto/rand"
	"encoding/base32"
	"strings"
)

// The namespaces of the ids that a hub mints (spec §8.7.1, §16.1). They are disjoint, so that one list of ids can name
// entries of every kind.
const (
	PrefixMessage    = "msg_"
	PrefixDirective  = "dir_"
	PrefixResolution = "res_"
	PrefixReceipt    = "rcpt_"
	PrefixSession    = "sess_"
	PrefixNonce      = "jti_"
)

// TailLength is the number of characters after the prefix of an id minted here: 130 bits.
const TailLength = 26

var tailEncoding = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// Tail encodes the first bytes of sum as the 26 characters behind an id's prefix. It needs at least 17 bytes.
func Tail(sum []byte) string { return tailEncoding.EncodeToString(sum[:17])[:TailLength] }

// NewTail returns 26 random characters.
func NewTail() string {
	var b [17]byte
	rand.Read(b[:]) // never returns an error
	return Tail(b[:])
}

// NewID returns a new random id in the namespace of prefix.
func NewID(prefix string) string { return prefix + NewTail() }

// MessageTail returns the 26 characters that name a message's records, and whether id has the form of an id minted
// here. A resolution or receipt id begins with those of its message.
func MessageTail(id string) (string, bool) {
	for _, p := range []string{PrefixMessage, PrefixResolution, PrefixReceipt} {
		tail, ok := strings.CutPrefix(id, p)
		if !ok {
			continue
		}
		if p == PrefixMessage && len(tail) != TailLength || len(tail) < TailLength {
			return "", false
		}
		tail = tail[:TailLength]
		return tail, Minted(tail, TailLength)
	}
	return "", false
}

// Minted says whether s has the form of n characters of Tail.
func Minted(s string, n int) bool {
	if len(s) != n {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

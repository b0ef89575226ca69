package ma2h_test

import (
	"strings"
	"testing"

	"github.com/mash-hub/mash/pkg/ma2h"
)

func TestNewIDsAreInTheirNamespaceAndDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, prefix := range []string{
		ma2h.PrefixMessage, ma2h.PrefixDirective, ma2h.PrefixResolution, ma2h.PrefixReceipt, ma2h.PrefixSession, ma2h.PrefixNonce,
	} {
		for range 100 {
			id := ma2h.NewID(prefix)
			if !strings.HasPrefix(id, prefix) || len(id) != len(prefix)+ma2h.TailLength || seen[id] {
				t.Fatalf("NewID(%q) = %q, want a new id of its length", prefix, id)
			}
			seen[id] = true
		}
	}
}

func TestTailIsAFunctionOfTheSum(t *testing.T) {
	t.Parallel()
	sum := []byte("0123456789abcdefXXXX")
	if a, b := ma2h.Tail(sum), ma2h.Tail(sum); a != b || len(a) != ma2h.TailLength {
		t.Errorf("Tail = %q and %q, want the same %d characters", a, b, ma2h.TailLength)
	}
	other := []byte("0123456789abcdeFXXXX")
	if ma2h.Tail(sum) == ma2h.Tail(other) {
		t.Errorf("Tail(%q) = Tail(%q)", sum, other)
	}
}

// A resolution or receipt id begins with its message's tail.
func TestMessageTail(t *testing.T) {
	t.Parallel()
	const tail = "0123456789abcdefghjkmnpqrs"
	for id, want := range map[string]string{
		"msg_" + tail:           tail,
		"res_" + tail:           tail,
		"rcpt_" + tail:          tail,
		"res_" + tail + "x1":    tail,
		"rcpt_" + tail + "_2":   tail,
		"msg_" + tail + "x":     "",
		"msg_" + tail[1:]:       "",
		"res_" + tail[1:]:       "",
		"dir_" + tail:           "",
		"sess_" + tail:          "",
		tail:                    "",
		"":                      "",
		"msg_":                  "",
		"MSG_" + tail:           "",
		"msg_" + tail[1:] + "A": "",
		"msg_" + tail[1:] + "/": "",
		"msg_" + tail[2:] + "é": "",
	} {
		got, ok := ma2h.MessageTail(id)
		if got != want && ok || ok != (want != "") {
			t.Errorf("MessageTail(%q) = %q, %t, want %q", id, got, ok, want)
		}
	}
	id := ma2h.NewID(ma2h.PrefixMessage)
	if got, ok := ma2h.MessageTail(id); !ok || ma2h.PrefixMessage+got != id {
		t.Errorf("MessageTail(%q) = %q, %t, want the rest of it", id, got, ok)
	}
}

func TestMintedIsOfOneLengthAndAlphabet(t *testing.T) {
	t.Parallel()
	tail := ma2h.NewTail()
	for s, want := range map[string]bool{
		tail: true, "": false, tail[1:]: false, tail + "0": false, "A" + tail[1:]: false, "_" + tail[1:]: false, "é" + tail[2:]: false,
	} {
		if got := ma2h.Minted(s, ma2h.TailLength); got != want {
			t.Errorf("Minted(%q) = %t, want %t", s, got, want)
		}
	}
}

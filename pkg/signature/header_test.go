package signature_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/signature"
)

var mac43 = strings.Repeat("A", 43) // 32 bytes

func TestAWellFormedSignatureIsJustWhatTheSpecCallsSo(t *testing.T) {
	t.Parallel()
	for v1, want := range map[string]bool{
		mac43:                          true,
		mac43 + "=":                    true,
		mac43 + "==":                   false,
		mac43 + "===":                  false,
		"=" + mac43:                    false,
		mac43[:42] + "B":               true, // the last character's spare bits are not asked about
		mac43[:42] + "_":               true,
		mac43[:42] + "-":               true,
		mac43[:42] + "+":               false,
		mac43[:42] + "/":               false,
		mac43[:42] + "\n":              false,
		mac43 + "\n":                   false,
		mac43[:20] + "\r" + mac43:      false,
		mac43[:20] + " " + mac43:       false,
		mac43[:42]:                     false, // 31 bytes
		mac43 + "A":                    true,  // 33 bytes
		mac43 + "A=":                   false,
		mac43 + "AA":                   false, // no base64url has this length
		mac43 + "AAA":                  true,  // 34 bytes
		mac43 + "AAA==":                true,
		mac43 + "AAA=":                 false,
		strings.Repeat("0af9", 16):     true, // looks like hexadecimal
		strings.Repeat("a", 86):        true, // 64 bytes
		strings.Repeat("a", 86) + "==": true,
		"":                             false,
		"====":                         false,
	} {
		h, err := signature.ParseHeader("t=1,jti=j,v1=" + v1)
		if got := err == nil; got != want {
			t.Errorf("ParseHeader with v1=%q succeeds: %t, want %t", v1, got, want)
		}
		if err == nil && len(h.Signature) < 32 {
			t.Errorf("ParseHeader with v1=%q has %d bytes, want at least 32", v1, len(h.Signature))
		}
	}
}

func TestParseHeader(t *testing.T) {
	t.Parallel()
	good := "t=1790000000,jti=jti_1,v1=" + mac43
	for s, want := range map[string]bool{
		good:                       true,
		"MA2H-Signature: " + good:  true,
		"ma2h-signature:" + good:   true,
		"Other-Signature: " + good: false,
		" t=1790000000 , jti=jti_1 , v1=" + mac43 + " ":        true,
		"v1=" + mac43 + ",t=5,jti=a=b":                         true,
		good + ",v2=whatever":                                  true,
		good + ",v1=" + mac43:                                  false,
		good + ",t=1790000000":                                 false,
		good + ",":                                             false,
		"t=1790000000,jti=jti_1":                               false,
		"jti=jti_1,v1=" + mac43:                                false,
		"t=1790000000,v1=" + mac43:                             false,
		"t=1790000000,jti=,v1=" + mac43:                        false,
		"t=01790000000,jti=j,v1=" + mac43:                      false,
		"t=+1790000000,jti=j,v1=" + mac43:                      false,
		"t=-1,jti=j,v1=" + mac43:                               false,
		"t=1.5,jti=j,v1=" + mac43:                              false,
		"t=99999999999999,jti=j,v1=" + mac43:                   false,
		"t=1,jti=a b,v1=" + mac43:                              false,
		"t=1,jti=é,v1=" + mac43:                                false,
		"t=1,jti=" + strings.Repeat("j", 256) + ",v1=" + mac43: true,
		"t=1,jti=" + strings.Repeat("j", 257) + ",v1=" + mac43: false,
		"T=1,jti=j,v1=" + mac43:                                false,
		good + ",x=" + strings.Repeat("x", 3000):               false,
		"":                                                     false,
	} {
		h, err := signature.ParseHeader(s)
		if got := err == nil; got != want || err != nil && !errors.Is(err, signature.ErrMalformed) {
			t.Errorf("ParseHeader(%q) = %v, %v, want success: %t", s, h, err, want)
		}
	}
}

func FuzzParseHeader(f *testing.F) {
	f.Add("MA2H-Signature: t=1790000000,jti=jti_fixture,v1=" + mac43)
	f.Add("t=1,jti=j,v1=" + mac43 + "=")
	f.Add("v1=,t==,jti,")
	f.Fuzz(func(t *testing.T, s string) {
		h, err := signature.ParseHeader(s)
		if err != nil {
			return
		}
		again, err := signature.ParseHeader(signature.Line(h.String()))
		if err != nil || again.String() != h.String() {
			t.Errorf("ParseHeader(%q) = %s, and again %s, %v", s, h, again, err)
		}
		if len(h.Signature) < 32 || h.Nonce == "" || h.Time.Unix() < 0 {
			t.Errorf("ParseHeader(%q) = %+v", s, h)
		}
	})
}

func TestAHeaderCarriesWholeSecondsAndNoPadding(t *testing.T) {
	t.Parallel()
	h := signature.Header{Time: time.Unix(5, 999), Nonce: "j", Signature: make([]byte, 32)}
	if got, want := h.String(), "t=5,jti=j,v1="+base64.RawURLEncoding.EncodeToString(make([]byte, 32)); got != want {
		t.Errorf("String() = %s, want %s", got, want)
	}
}

func TestANonceThatWouldBreakTheHeaderIsRefused(t *testing.T) {
	t.Parallel()
	ctx, err := signature.Ack([]byte(`{"ma2h_version":"0.4","in_reply_to":"d","by":"agent:a"}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, jti := range []string{"", "a,b", "a\r\nX: y", "é"} {
		if got, err := ctx.Sign(signature.HMAC("k"), time.Unix(1, 0), jti); !errors.Is(err, signature.ErrMalformed) {
			t.Errorf("Sign with the nonce %q = %q, %v, want %v", jti, got, err, signature.ErrMalformed)
		}
	}
}

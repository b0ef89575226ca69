package signature_test

import (
	"crypto/ed25519"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/signature"
)

// The fixtures were made apart from this code: their canonical forms are written by hand, and digests and signatures were
// computed from those bytes with Python's hashlib, hmac and cryptography.
const (
	fixtureSecret = "a-secret-of-our-own-for-the-tests"
	fixtureNonce  = "jti_fixture"
	fixtureURL    = "https://agent.example/ma2h?x=1"
)

var fixtureTime = time.Unix(1790000000, 0)

type builder func(body []byte) (signature.Context, error)

func response(b []byte) (signature.Context, error) { return signature.Response(b, fixtureURL) }
func entryResponse(b []byte) (signature.Context, error) {
	return signature.EntryResponse(b, "agent:ci/build#sess_1")
}
func receipt(b []byte) (signature.Context, error) { return signature.Receipt(b, "agent:ops#sess_2") }

type fixture struct {
	name      string
	build     builder
	body      string
	canonical string
	v1        string
	unbound   []string // paths of members that no signature covers
}

func fixtures() []fixture {
	return []fixture{
		{
			name: "response with numbers and names of every kind", build: response,
			body: `{ "ma2h_version":"0.6", "in_reply_to":"msg_a", "resolution_id":"res_a", "agent":{"id":"ci/build","run_id":"r"},
				"resolution":"answered", "defaulted":false, "later":1,
				"response":{"value":{"\ufb33":"\u000F\u2028","1":1E21,"\uD83D\uDE00":0.1,"\u20ac":-0,"\r":1152921504606846976},
				"edited":false,"actor":"human:ada","resolved_at":"2026-03-01T10:00:00Z"}}`,
			canonical: `{"callback_url":"https://agent.example/ma2h?x=1","id":"msg_a","in_reply_to":"msg_a","jti":"jti_fixture","ma2h_version":"0.6","payload_sha256":"4d4f0dcaa127f1acac96a27d04ba5cd9fb7bd8d53d52e0a0ca201475d198e544","resolution":"answered","resolution_id":"res_a","resolved_at":"2026-03-01T10:00:00Z","t":"1790000000"}`,
			v1:        "eqLgmOnOdTWhSjPhpNnPjWnfNthIf4NssIxvD4NWtQ4",
			unbound:   []string{"/agent/id", "/agent/run_id", "/defaulted", "/later"},
		},
		{
			name: "response without detail", build: response,
			body:      `{"ma2h_version":"0.3","in_reply_to":"msg_b","resolution_id":"res_b","resolution":"dismissed"}`,
			canonical: `{"callback_url":"https://agent.example/ma2h?x=1","id":"msg_b","in_reply_to":"msg_b","jti":"jti_fixture","ma2h_version":"0.3","payload_sha256":"f8e362f091afdac944ab8f6a17e234c1662f1e39f846c0242824d0abc07b440c","resolution":"dismissed","resolution_id":"res_b","resolved_at":null,"t":"1790000000"}`,
			v1:        "WQKYQx2GGORejvcrXikRW1NPHfhD8kOjdTonje9kAGU",
		},
		{
			name: "response entry", build: entryResponse,
			body:      `{"ma2h_version":"0.3","in_reply_to":"msg_b","resolution_id":"res_b","resolution":"dismissed","response":null}`,
			canonical: `{"id":"msg_b","in_reply_to":"msg_b","jti":"jti_fixture","ma2h_version":"0.3","payload_sha256":"f8e362f091afdac944ab8f6a17e234c1662f1e39f846c0242824d0abc07b440c","resolution":"dismissed","resolution_id":"res_b","resolved_at":null,"t":"1790000000","to":"agent:ci/build#sess_1"}`,
			v1:        "xjYrw2AkJOvKerShzFAOJ4SRbmt8KSHIYLetueS6KuM",
		},
		{
			name: "directive", build: signature.Directive,
			body: `{"ma2h_version":"0.4","type":"directive","id":"dir_a","from":"human:ada","to":"agent:ci/build","title":"Stop",
				"tags":["a","b"],"context":[{"kind":"data","data":{"n":-1e-3}}],"created_at":"2026-03-01T10:00:00Z","sensitive":true}`,
			canonical: `{"from":"human:ada","id":"dir_a","jti":"jti_fixture","ma2h_version":"0.4","payload_sha256":"4771fa851b081fda2aff895ac268ee2207d9dd79e3fe918c25b6bfdb48dc572a","t":"1790000000","to":"agent:ci/build"}`,
			v1:        "4RV9udBlWcip106fwr3f6oCCoF-6iqMWCp4lGPRXwz8",
			unbound:   []string{"/type", "/created_at", "/sensitive"},
		},
		{
			name: "message entry", build: signature.Message,
			body: `{"ma2h_version":"0.5","type":"task","id":"msg_c","from":"agent:ops#sess_2","to":"agent:ci/build","title":"Check",
				"action":{"instructions":"Look."},"sensitive":true,"agent":{"id":"ops"},"idempotency_key":"k"}`,
			canonical: `{"from":"agent:ops#sess_2","id":"msg_c","jti":"jti_fixture","ma2h_version":"0.5","payload_sha256":"e6fb24eb668e5d1200d7cb6712962d52c45f887672b3f31a850018e6cf716fe4","t":"1790000000","to":"agent:ci/build"}`,
			v1:        "2R4ZOvneUMDAooR2cKKJAYRjna_6mVpVk9aFwq13cTA",
			unbound:   []string{"/agent/id", "/idempotency_key"},
		},
		{
			name: "receipt entry", build: receipt,
			body:      `{"ma2h_version":"0.5","type":"receipt","id":"rcpt_a","in_reply_to":"msg_c","event":"bounced","prior":"queued","at":"2026-03-01T10:00:00Z","to":"elsewhere"}`,
			canonical: `{"in_reply_to":"msg_c","jti":"jti_fixture","ma2h_version":"0.5","receipt_sha256":"72527527c04ed34841c89d5a3648c2a96e518d97b99eaa27a572261e06b1916b","t":"1790000000","to":"agent:ops#sess_2"}`,
			v1:        "ksms1liXanfWmpcAzR2rHkskI0DdunQ2SY07oW_kcVg",
			unbound:   []string{"/type", "/to"},
		},
		{
			name: "ack", build: signature.Ack,
			body:      `{"ma2h_version":"0.4","type":"ack","in_reply_to":"dir_a","by":"agent:ci/build","acked_at":"2026-03-01T10:00:00Z"}`,
			canonical: `{"ack_sha256":"9f586027f07ecfd9acc42f5fe175a2bceed31442f7d8f1d0655394d4d729e5ef","by":"agent:ci/build","in_reply_to":"dir_a","jti":"jti_fixture","ma2h_version":"0.4","t":"1790000000"}`,
			v1:        "TMrnEvQdY7SWqWxUE5utV83zt0jAFC9gKMXEBUIXzHM",
			unbound:   []string{"/type"},
		},
	}
}

func mustBuild(t *testing.T, build builder, body string) signature.Context {
	t.Helper()
	ctx, err := build([]byte(body))
	if err != nil {
		t.Fatalf("build from %s: %v", body, err)
	}
	return ctx
}

func mustSign(t *testing.T, ctx signature.Context, key signature.Signer) string {
	t.Helper()
	value, err := ctx.Sign(key, fixtureTime, fixtureNonce)
	if err != nil {
		t.Fatalf("sign: %v", err)
	}
	return value
}

func TestB77_EveryContextHasTheCanonicalFormAndSignatureOfTheFixtures(t *testing.T) {
	t.Parallel()
	for _, f := range fixtures() {
		ctx := mustBuild(t, f.build, f.body)
		if got := string(ctx.Canonical(fixtureTime, fixtureNonce)); got != f.canonical {
			t.Errorf("%s: Canonical = %s, want %s", f.name, got, f.canonical)
		}
		want := "t=1790000000,jti=jti_fixture,v1=" + f.v1
		if got := mustSign(t, ctx, signature.HMAC(fixtureSecret)); got != want {
			t.Errorf("%s: Sign = %s, want %s", f.name, got, want)
		}
	}
}

func TestEd25519SignsAsOthersDo(t *testing.T) {
	t.Parallel()
	f := fixtures()[1]
	private, public := ed25519Keys()
	ctx := mustBuild(t, f.build, f.body)
	const want = "t=1790000000,jti=jti_fixture,v1=xPDqfDUXHkA4MnyAU0eKg33k7Sqsgb-GjUJeR1aWAp25P27FSA5sHn5SEy_N4B_Dfvq2zfu3__B3ApgWBqaaAA"
	if got := mustSign(t, ctx, private); got != want {
		t.Errorf("Sign = %s, want %s", got, want)
	}
	for _, header := range []string{want, want + "==", "MA2H-Signature: " + want} {
		if _, err := ctx.Verify(header, fixtureTime, signature.Window, public); err != nil {
			t.Errorf("Verify(%s) = %v, want nil", header, err)
		}
	}
}

func ed25519Keys() (signature.PrivateKey, signature.PublicKey) {
	seed := make([]byte, ed25519.SeedSize)
	for i := range seed {
		seed[i] = byte(i)
	}
	k := ed25519.NewKeyFromSeed(seed)
	return signature.PrivateKey(k), signature.PublicKey(k.Public().(ed25519.PublicKey))
}

func TestTheHandBuiltContextIsCanonical(t *testing.T) {
	t.Parallel()
	nasty := "\x00\b\f\n\r\t\x1f\"\\/<>&\u007f\u0080\u2028\u2029\ufeff\U0001F600e\u0301é"
	ctx, err := signature.Response([]byte(`{"ma2h_version":"0.6","in_reply_to":"\u00e9\u2028\/\u001f","resolution":"x","resolution_id":"\ud83d\ude00"}`), nasty)
	if err != nil {
		t.Fatal(err)
	}
	got := ctx.Canonical(fixtureTime, `jti"\`)
	want, err := ma2h.Canonical(got)
	if err != nil || string(got) != string(want) {
		t.Errorf("Canonical = %s, want %s (%v)", got, want, err)
	}
}

func TestB76_NumbersAreSignedAsECMAScriptWritesThem(t *testing.T) {
	t.Parallel()
	const body = `{"ma2h_version":"0.6","in_reply_to":"m","resolution":"answered","resolution_id":"r","state":`
	same := [][]string{
		{"1152921504606846976", "1152921504606847000", "1.152921504606847e18"},
		{"9007199254740993", "9007199254740992"},
		{"1e21", "1E+21", "1000000000000000000000"},
		{"-0", "0", "-0.0", "0e9"},
		{"0.1", "1e-1", "0.10"},
		{"1e-7", "0.0000001"},
		{"5e-324", "4.9e-324"},
	}
	digests := map[string]string{}
	for _, spellings := range same {
		first := string(mustBuild(t, response, body+spellings[0]+"}").Canonical(fixtureTime, "j"))
		for _, s := range spellings[1:] {
			if got := string(mustBuild(t, response, body+s+"}").Canonical(fixtureTime, "j")); got != first {
				t.Errorf("%s and %s are signed apart, want alike", spellings[0], s)
			}
		}
		if other, twice := digests[first]; twice {
			t.Errorf("%s and %s are signed alike, want apart", spellings[0], other)
		}
		digests[first] = spellings[0]
	}
}

func TestB76_WhatReadersWouldDifferAboutIsRefused(t *testing.T) {
	t.Parallel()
	const head = `{"ma2h_version":"0.6","in_reply_to":"m","resolution":"answered","resolution_id":"r",`
	for name, body := range map[string]string{
		"a number beyond a double":               head + `"state":1e400}`,
		"a negative one":                         head + `"state":{"a":[-1e400]}}`,
		"one in a member that is not signed":     head + `"agent":{"n":1e400}}`,
		"a doubled name":                         head + `"state":1,"state":2}`,
		"a name doubled by an escape":            head + `"state":1,"stat\u0065":2}`,
		"a doubled name deeper down":             head + `"state":{"a":{"b":1,"b":1}}}`,
		"a doubled name in what is not signed":   head + `"agent":{"b":1,"b":1}}`,
		"half a surrogate pair":                  head + `"state":"\ud83d"}`,
		"the other half":                         head + `"state":"\ude00"}`,
		"halves in the wrong order":              head + `"state":"\ude00\ud83d"}`,
		"a name that is half a pair":             head + `"state":{"\ud83d":1}}`,
		"broken UTF-8":                           head + "\"state\":\"\xff\"}",
		"a literal that is none":                 head + `"state":NaN}`,
		"more after the object":                  head + `"state":1} {}`,
		"an open end":                            head + `"state":1`,
		"a comma too many":                       head + `"state":1,}`,
		"an array":                               `[]`,
		"nothing":                                ``,
		"null":                                   `null`,
		"a version that is no string":            strings.Replace(head, `"0.6"`, `0.6`, 1) + `"state":1}`,
		"a missing resolution_id":                `{"ma2h_version":"0.6","in_reply_to":"m","resolution":"answered"}`,
		"a name in other letters":                strings.Replace(head, "resolution_id", "Resolution_ID", 1) + `"state":1}`,
		"a response that is no object":           head + `"response":"yes"}`,
		"a response without its time":            head + `"response":{"value":"yes"}}`,
		"a response whose time is in other case": head + `"response":{"Resolved_At":"2026-03-01T10:00:00Z"}}`,
	} {
		if _, err := response([]byte(body)); err == nil {
			t.Errorf("%s: Response(%q) succeeded, want an error", name, body)
		}
	}
	if _, err := signature.Response([]byte(head+`"state":1}`), "https://\xff"); err == nil {
		t.Error("Response for a URL that is no UTF-8 succeeded, want an error")
	}
}

func TestStringsAreSignedAsTheyAreWithoutNormalisation(t *testing.T) {
	t.Parallel()
	const head = `{"ma2h_version":"0.6","in_reply_to":"m","resolution":"answered","resolution_id":"r","state":`
	composed := mustBuild(t, response, head+`"é"}`).Canonical(fixtureTime, "j")
	decomposed := mustBuild(t, response, head+"\"e\u0301\"}").Canonical(fixtureTime, "j")
	escaped := mustBuild(t, response, head+`"\u00E9"}`).Canonical(fixtureTime, "j")
	if string(composed) == string(decomposed) || string(composed) != string(escaped) {
		t.Errorf("é, e with an accent, escaped: %s, %s, %s; want the first and last alike, the second apart", composed, decomposed, escaped)
	}
}

func TestTheWindowHasItsEdgesOnBothSides(t *testing.T) {
	t.Parallel()
	f := fixtures()[0]
	ctx, key := mustBuild(t, f.build, f.body), signature.HMAC(fixtureSecret)
	header := mustSign(t, ctx, key)
	for _, c := range []struct {
		off  time.Duration
		want error
	}{
		{0, nil},
		{120 * time.Second, nil},
		{-120 * time.Second, nil},
		{120*time.Second + time.Millisecond, signature.ErrWindow},
		{-120*time.Second - time.Millisecond, signature.ErrWindow},
		{20000 * time.Hour, signature.ErrWindow},
	} {
		if _, err := ctx.Verify(header, fixtureTime.Add(c.off), signature.Window, key); !errors.Is(err, c.want) {
			t.Errorf("Verify %v later = %v, want %v", c.off, err, c.want)
		}
	}
}

func TestEitherOfTwoKeysVerifiesDuringARotation(t *testing.T) {
	t.Parallel()
	f := fixtures()[0]
	ctx := mustBuild(t, f.build, f.body)
	private, public := ed25519Keys()
	older, newer := signature.HMAC("older-older-older-older-older-older"), signature.HMAC(fixtureSecret)
	for _, signer := range []signature.Signer{older, newer, private} {
		line := signature.Line(mustSign(t, ctx, signer))
		got, err := ctx.Verify(line, fixtureTime, signature.Window, public, newer, older)
		if err != nil || got.Nonce != fixtureNonce {
			t.Errorf("Verify = %q, %v, want %q, nil", got.Nonce, err, fixtureNonce)
		}
		if _, err := ctx.Verify(line, fixtureTime, signature.Window); !errors.Is(err, signature.ErrMismatch) {
			t.Errorf("Verify without keys = %v, want %v", err, signature.ErrMismatch)
		}
	}
}

func TestAnEmptyOrMisshapenKeyVerifiesNothing(t *testing.T) {
	t.Parallel()
	f := fixtures()[0]
	ctx := mustBuild(t, f.build, f.body)
	header := mustSign(t, ctx, signature.HMAC(fixtureSecret))
	for _, key := range []signature.Verifier{signature.HMAC(nil), signature.PublicKey(nil), signature.PublicKey("short")} {
		if _, err := ctx.Verify(header, fixtureTime, signature.Window, key); !errors.Is(err, signature.ErrMismatch) {
			t.Errorf("Verify under %T %v = %v, want %v", key, key, err, signature.ErrMismatch)
		}
	}
}

func TestAnEmptyOrMisshapenKeySignsNothing(t *testing.T) {
	t.Parallel()
	f := fixtures()[0]
	ctx := mustBuild(t, f.build, f.body)
	for _, key := range []signature.Signer{signature.HMAC(nil), signature.PrivateKey(nil), signature.PrivateKey("short")} {
		if got, err := ctx.Sign(key, fixtureTime, fixtureNonce); !errors.Is(err, signature.ErrUnusable) {
			t.Errorf("Sign under %T %v = %q, %v, want %v", key, key, got, err, signature.ErrUnusable)
		}
	}
}

func TestAContextIsNotTakenForAnother(t *testing.T) {
	t.Parallel()
	const body = `{"ma2h_version":"0.5","type":"notify","id":"x","from":"a","to":"b","title":"t","in_reply_to":"m","resolution":"answered","resolution_id":"r","by":"c"}`
	builders := []builder{response, entryResponse, signature.Directive, signature.Message, receipt, signature.Ack}
	var forms []string
	for _, b := range builders {
		forms = append(forms, string(mustBuild(t, b, body).Canonical(fixtureTime, "j")))
	}
	slices.Sort(forms)
	if got := len(slices.Compact(forms)); got != len(builders) {
		t.Errorf("one body has %d forms in %d contexts, want as many", got, len(builders))
	}
}

func BenchmarkSign(b *testing.B) {
	f := fixtures()[0]
	key := signature.HMAC(fixtureSecret)
	for b.Loop() {
		ctx, err := f.build([]byte(f.body))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := ctx.Sign(key, fixtureTime, fixtureNonce); err != nil {
			b.Fatal(err)
		}
	}
}

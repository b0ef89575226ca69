package password_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/mash-hub/mash/pkg/password"
)

// light is so cheap that tests need not wait.
var light = password.Parameters{MemoryKiB: 64, Time: 1, Lanes: 1}

func TestAHashIsOfOnePasswordAlone(t *testing.T) {
	t.Parallel()
	h := password.New(light)
	one, err := h.Hash(t.Context(), "stapler under moss")
	if err != nil || !strings.HasPrefix(one, "$argon2id$v=19$m=64,t=1,p=1$") {
		t.Fatalf("Hash = %q, %v", one, err)
	}
	two, err := h.Hash(t.Context(), "stapler under moss")
	if err != nil || two == one {
		t.Errorf("two hashes of one password: %q and %q, %v; want different salts", one, two, err)
	}
	for guess, want := range map[string]bool{
		"stapler under moss": true, "stapler under mosS": false, "stapler under moss ": false, "": false,
	} {
		right, old, err := h.Verify(t.Context(), one, guess)
		if right != want || old || err != nil {
			t.Errorf("Verify(%q) = %t, old %t, %v; want %t", guess, right, old, err, want)
		}
	}
}

func TestNoPasswordIsNeverRight(t *testing.T) {
	t.Parallel()
	h := password.New(light)
	for _, guess := range []string{"", "anything at all"} {
		if right, _, err := h.Verify(t.Context(), "", guess); right || err != nil {
			t.Errorf("Verify of no hash with %q = %t, %v; want false", guess, right, err)
		}
	}
}

func TestAHashOfOtherParametersIsOld(t *testing.T) {
	t.Parallel()
	made, err := password.New(light).Hash(t.Context(), "stapler under moss")
	if err != nil {
		t.Fatal(err)
	}
	heavier := light
	heavier.Time = 2
	right, old, err := password.New(heavier).Verify(t.Context(), made, "stapler under moss")
	if !right || !old || err != nil {
		t.Errorf("Verify of an older hash = %t, old %t, %v; want both true", right, old, err)
	}
	if today, err := password.New(password.Parameters{}).Hash(t.Context(), "x"); err != nil || !strings.Contains(today, "$m=19456,t=2,p=1$") {
		t.Errorf("without parameters a hash is %q, %v; want today's", today, err)
	}
	if p := password.Today(); p.MemoryKiB != 19456 || p.Time != 2 || p.Lanes != 1 {
		t.Errorf("Today() = %+v, want 19 MiB, two passes, one lane", p)
	}
}

func TestMalformedHashesAreRefusedBeforeAnythingIsComputed(t *testing.T) {
	t.Parallel()
	h := password.New(light)
	good, err := h.Hash(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{
		"x", "$", good + "$", strings.Replace(good, "argon2id", "argon2i", 1), strings.Replace(good, "v=19", "v=16", 1),
		strings.Replace(good, "m=64", "m=99999999", 1), strings.Replace(good, "t=1", "t=0", 1), strings.Replace(good, "t=1", "t=17", 1),
		strings.Replace(good, "p=1", "p=300", 1), strings.Replace(good, "m=64,t=1", "t=1,m=64", 1), good[:len(good)-4], good + "AAAA",
		strings.Replace(good, "m=64", "m=064", 1),
	} {
		if _, _, err := h.Verify(t.Context(), bad, "x"); !errors.Is(err, password.ErrMalformed) {
			t.Errorf("Verify(%q) = %v, want %v", bad, err, password.ErrMalformed)
		}
	}
}

func TestWhoIsGoneComputesNothing(t *testing.T) {
	t.Parallel()
	h := password.New(light)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	refused := 0
	for range 200 { // of a free place and an ended context, either may be taken
		if _, err := h.Hash(gone, "x"); errors.Is(err, context.Canceled) {
			refused++
		}
	}
	if refused == 0 {
		t.Error("a caller who is gone is always served")
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for what, want := range map[string]password.Weakness{
		"":                              password.Short,
		"nine char":                     password.Short,
		"éééé":                          password.Short,
		strings.Repeat("long ", 52):     password.Long,
		"bell\x07bell bell":             password.Invalid,
		"half\xffhalf half":             password.Invalid,
		"password123":                   password.Common,
		"P@ssw0rd2026!":                 password.Common,
		"ILoveYou!!!!":                  password.Common,
		"Welcome2Password":              password.Fine, // the digit in the middle keeps it from being two words, barely
		"hello-password":                password.Common,
		"letmeinletmein":                password.Common,
		"12345678901234":                password.Simple,
		"aaaaaaaaaaaa":                  password.Simple,
		"qwertyuiop":                    password.Simple,
		"poiuytrewq":                    password.Simple,
		"1q2w3e4r5t":                    password.Simple,
		"abcabcabcabc":                  password.Simple,
		"x7!x7!x7!x7!":                  password.Simple,
		"abcdefg12345":                  password.Simple,
		"margarete1":                    password.Named,
		"margarete2026":                 password.Named,
		"Margarete-mash":                password.Named,
		"2026202720282029":              password.Common,
		"margarete likes loud parrots":  password.Fine,
		"stapler under moss":            password.Fine,
		"Tr0ub4dor&3x":                  password.Fine,
		"дом у моря стоит":              password.Fine,
		"correct horse battery staple":  password.Common,
		"k9#vQ2!mZpL":                   password.Fine,
		strings.Repeat("x1y2z3q8 ", 28): password.Fine,
	} {
		if got := password.Check(what, "margarete"); got != want {
			t.Errorf("Check(%q) = %q, want %q", what, got, want)
		}
	}
	if got := password.Check("b0b b0b b0b b0b", "bo"); got == password.Named {
		t.Errorf("a name of two letters counts: %q", got)
	}
}

func FuzzVerify(f *testing.F) {
	h := password.New(light)
	good, err := h.Hash(context.Background(), "x")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good, "x")
	f.Add("$argon2id$v=19$m=64,t=1,p=1$AAAAAAAAAAA$AAAA", "")
	small := password.New(light)
	f.Fuzz(func(t *testing.T, hash, guess string) {
		if strings.Contains(hash, "m=") && !strings.Contains(hash, "m=64,t=1,") {
			return // costs too much to be fuzzed
		}
		right, _, err := small.Verify(t.Context(), hash, guess)
		if right && (err != nil || hash == "") {
			t.Errorf("Verify(%q, %q) = %t, %v", hash, guess, right, err)
		}
	})
}

func FuzzCheck(f *testing.F) {
	f.Add("password123", "ada")
	f.Fuzz(func(t *testing.T, p, name string) {
		if got := password.Check(p, name); got == password.Fine && (len(p) > password.MaxBytes || len([]rune(p)) < password.MinLength) {
			t.Errorf("Check(%q) is fine", p)
		}
	})
}

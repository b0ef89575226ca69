//go:build cases

package signature_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/signature"
)

// vector is one of the shared cases. Each has what is signed under one of several names.
type vector struct {
	ID            string                     `json:"id"`
	Key           string                     `json:"test_key"`
	Payload       map[string]json.RawMessage `json:"payload"` // of a Response
	Directive     json.RawMessage            `json:"directive"`
	Ack           json.RawMessage            `json:"ack"`
	Entry         json.RawMessage            `json:"entry"`
	SignedContext json.RawMessage            `json:"signed_context"`
	Header        string                     `json:"header"`
	V1            string                     `json:"v1"`
	DrainIdentity struct {
		To string `json:"reconstructed_to"`
	} `json:"drain_identity"`

	PayloadSHA256    string `json:"payload_sha256"`
	ReceiptSHA256    string `json:"receipt_sha256"`
	Canonical        string `json:"canonical_jcs"`
	PayloadCanonical string `json:"payload_canonical_jcs"`
	ContentCanonical string `json:"content_canonical_jcs"`
	ReceiptCanonical string `json:"receipt_canonical_jcs"`
	AckCanonical     string `json:"ack_canonical_jcs"`
}

// signed is what every signed_context has.
type signed struct {
	Version     string `json:"ma2h_version"`
	CallbackURL string `json:"callback_url"`
	To          string `json:"to"`
	JTI         string `json:"jti"`
	T           string `json:"t"`
	Payload     string `json:"payload_sha256"`
	Receipt     string `json:"receipt_sha256"`
	Ack         string `json:"ack_sha256"`
}

// TestTheSharedVectors runs the signature vectors of the folder that CASES names.
func TestTheSharedVectors(t *testing.T) {
	t.Parallel()
	cases := os.Getenv("CASES")
	files, err := filepath.Glob(filepath.Join(cases, "vectors", "dp-*.json"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(raw, []byte(`canonical_jcs"`)) {
			continue
		}
		found++
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			var v vector
			if err := json.Unmarshal(raw, &v); err != nil {
				t.Fatal(err)
			}
			v.run(t)
		})
	}
	if found == 0 {
		t.Fatalf("no vector with a canonical form in %s", cases)
	}
}

func (v *vector) run(t *testing.T) {
	var s signed
	if v.SignedContext != nil {
		if err := json.Unmarshal(v.SignedContext, &s); err != nil {
			t.Fatal(err)
		}
	}
	want := firstOf(v.PayloadSHA256, v.ReceiptSHA256, s.Payload, s.Receipt, s.Ack)
	if form := firstOf(v.PayloadCanonical, v.ContentCanonical, v.ReceiptCanonical, v.AckCanonical); form != "" {
		v.checkPayload(t, form, want)
	}
	build, body := v.delivered(t, s)
	ctx := mustBuild(t, build, string(body))
	at, nonce := fixtureTime, fixtureNonce
	if s.T != "" {
		n, err := strconv.ParseInt(s.T, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		at, nonce = time.Unix(n, 0), s.JTI
	}
	form := ctx.Canonical(at, nonce)
	if !bytes.Contains(form, []byte(`_sha256":"`+want+`"`)) {
		t.Errorf("Canonical = %s, want the digest %s in it", form, want)
	}
	if v.V1 == "" {
		return
	}
	if string(form) != v.Canonical {
		t.Errorf("Canonical = %s, want %s", form, v.Canonical)
	}
	key := signature.HMAC(v.Key)
	if got, err := ctx.Sign(key, at, nonce); signature.Line(got) != v.Header {
		t.Errorf("Sign = %s, %v, want %s", got, err, v.Header)
	}
	if _, err := ctx.Verify(v.Header, at, signature.Window, key); err != nil {
		t.Errorf("Verify(%s) = %v, want nil", v.Header, err)
	}
	v.tamper(t, build, body, at)
}

// checkPayload checks the canonical form of what goes into the digest, by itself.
func (v *vector) checkPayload(t *testing.T, form, want string) {
	t.Helper()
	got, err := ma2h.Canonical([]byte(form))
	if err != nil || string(got) != form {
		t.Errorf("Canonical(%s) = %s, %v, want the same again", form, got, err)
	}
	if v.Payload != nil {
		raw, err := json.Marshal(v.Payload)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ma2h.Canonical(raw); err != nil || string(got) != form {
			t.Errorf("Canonical(payload) = %s, %v, want %s", got, err, form)
		}
	}
	sum := sha256.Sum256([]byte(form))
	if got := hex.EncodeToString(sum[:]); got != want {
		t.Errorf("the SHA-256 of the canonical form = %s, want %s", got, want)
	}
}

// delivered returns the body as it is delivered, and the context that it has there.
func (v *vector) delivered(t *testing.T, s signed) (builder, []byte) {
	t.Helper()
	switch {
	case v.Directive != nil:
		return signature.Directive, v.Directive
	case v.Ack != nil:
		return signature.Ack, v.Ack
	case v.Entry != nil && v.ReceiptSHA256 != "":
		return func(b []byte) (signature.Context, error) { return signature.Receipt(b, v.DrainIdentity.To) }, v.Entry
	case v.Entry != nil && v.DrainIdentity.To != "":
		return func(b []byte) (signature.Context, error) { return signature.EntryResponse(b, v.DrainIdentity.To) }, v.Entry
	case v.Entry != nil:
		return signature.Message, v.Entry
	}
	body := map[string]json.RawMessage{}
	if err := json.Unmarshal(firstRaw(v.SignedContext, []byte(`{"ma2h_version":"0.3","in_reply_to":"m","resolution_id":"r","resolution":"answered"}`)), &body); err != nil {
		t.Fatal(err)
	}
	for name, value := range v.Payload {
		body[name] = value
	}
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return func(b []byte) (signature.Context, error) { return signature.Response(b, s.CallbackURL) }, raw
}

// tamper changes each member of the signed context, and each member of the body that the context names.
func (v *vector) tamper(t *testing.T, build builder, body []byte, at time.Time) {
	t.Helper()
	key := signature.HMAC(v.Key)
	h, err := signature.ParseHeader(v.Header)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes(t, string(v.SignedContext)) {
		if form, err := ma2h.Canonical(c.body); err == nil && key.Verify(form, h.Signature) {
			t.Errorf("a change of the context at %s verifies", c.path)
		}
	}
	bound := 0
	for _, c := range changes(t, string(body)) {
		ctx, err := build(c.body)
		if err == nil {
			_, err = ctx.Verify(v.Header, at, signature.Window, key)
		}
		top := strings.Split(c.path, "/")[1]
		if err == nil && strings.Contains(signedMembers(v), " "+top+" ") {
			t.Errorf("a change of the body at %s verifies", c.path)
		}
		if errors.Is(err, signature.ErrMismatch) {
			bound++
		}
	}
	if bound == 0 {
		t.Error("no change of the body was refused")
	}
}

// signedMembers lists the members of the body whose every change must break the signature (spec §9.2, §9.7, §9.8, §14.4).
func signedMembers(v *vector) string {
	switch {
	case v.Directive != nil:
		return " ma2h_version id from to title body priority tags context "
	case v.Ack != nil:
		return " ma2h_version in_reply_to by acked_at note resolution_id "
	case v.ReceiptSHA256 != "":
		return " ma2h_version id in_reply_to event prior at session "
	case v.Entry != nil && v.DrainIdentity.To == "":
		return " ma2h_version type id from to title body priority tags context request action sensitive "
	}
	return " ma2h_version in_reply_to resolution_id resolution response state "
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

func firstRaw(a, b []byte) []byte {
	if a != nil {
		return a
	}
	return b
}

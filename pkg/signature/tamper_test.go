package signature_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mash-hub/mash/pkg/signature"
)

// change is a body with one thing altered at a path.
type change struct {
	path string
	body []byte
}

// changes returns the body with each of its members and elements altered in turn, with each removed, and with one added
// to each object and array.
func changes(t *testing.T, body string) []change {
	t.Helper()
	var out []change
	root := decode(t, body)
	walk("", root, func(path string, replace func(v any), remove func(), old any) {
		for _, v := range altered(old) {
			replace(v)
			out = append(out, change{path, encode(t, root)})
		}
		replace(old)
		if remove != nil && path != "" {
			remove()
			out = append(out, change{path, encode(t, root)})
			replace(old)
		}
	})
	return out
}

func decode(t *testing.T, body string) any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(body))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func walk(path string, v any, visit func(path string, replace func(any), remove func(), old any)) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range sortedNames(v) {
			old := v[name]
			p := path + "/" + name
			walk(p, old, visit)
			visit(p, func(x any) { v[name] = x }, func() { delete(v, name) }, old)
		}
		if path != "" {
			visit(path+"/added", func(x any) {
				if delete(v, "added"); x != nil {
					v["added"] = x
				}
			}, nil, nil)
		}
	case []any:
		for i, old := range v {
			walk(path+"/"+string(rune('0'+i)), old, visit)
			visit(path+"/"+string(rune('0'+i)), func(x any) { v[i] = x }, nil, old)
		}
	}
}

func sortedNames(o map[string]any) []string {
	var names []string
	for name := range o {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func altered(v any) []any {
	switch v := v.(type) {
	case string:
		return []any{v + "x", " " + v, strings.ToUpper(v) + "!", json.Number("7")}
	case json.Number:
		return []any{json.Number("4711"), json.Number("-4711.5"), v.String()}
	case bool:
		return []any{!v, "true"}
	case nil:
		return []any{"x"}
	case []any:
		return []any{append(slices.Clone(v), "x"), []any{}, "x"}
	default:
		return []any{map[string]any{}, "x"}
	}
}

func TestAnyChangeOfASignedMemberIsRefused(t *testing.T) {
	t.Parallel()
	private, public := ed25519Keys()
	pairs := []struct {
		signature.Signer
		signature.Verifier
	}{{signature.HMAC(fixtureSecret), signature.HMAC(fixtureSecret)}, {private, public}}
	for _, f := range fixtures() {
		ctx := mustBuild(t, f.build, f.body)
		for _, p := range pairs {
			header := mustSign(t, ctx, p.Signer)
			for _, c := range changes(t, f.body) {
				holds := verifies(f.build, c.body, header, p.Verifier)
				if want := isUnbound(f, c); holds != want {
					t.Errorf("%s with %T: a change at %s verifies: %t, want %t: %s", f.name, p.Signer, c.path, holds, want, c.body)
				}
			}
			tamperHeader(t, ctx, header, p.Verifier)
		}
	}
}

func verifies(build builder, body []byte, header string, key signature.Verifier) bool {
	ctx, err := build(body)
	if err != nil {
		return false
	}
	_, err = ctx.Verify(header, fixtureTime, signature.Window, key)
	return err == nil
}

// isUnbound says whether a change is one that no signature covers: of an advisory member, or of an absent member to null
// where the digest has null for both.
func isUnbound(f fixture, c change) bool {
	for _, u := range f.unbound {
		if c.path == u || strings.HasPrefix(u, c.path+"/") || strings.HasPrefix(c.path, u[:strings.LastIndex(u, "/")+1]) && strings.Count(u, "/") > 1 {
			return true
		}
	}
	return f.name == "response entry" && c.path == "/response" && !bytes.Contains(c.body, []byte(`"response"`))
}

func tamperHeader(t *testing.T, ctx signature.Context, header string, key signature.Verifier) {
	t.Helper()
	for _, bad := range []string{
		strings.Replace(header, "t=1790000000", "t=1790000001", 1),
		strings.Replace(header, "jti=jti_fixture", "jti=jti_fixturf", 1),
		strings.Replace(header, "v1=", "v1=AAAA", 1),
		header[:len(header)-4] + "AAAA",
	} {
		if _, err := ctx.Verify(bad, fixtureTime, signature.Window, key); !errors.Is(err, signature.ErrMismatch) {
			t.Errorf("Verify(%s) = %v, want %v", bad, err, signature.ErrMismatch)
		}
	}
}

func TestTheDestinationIsBound(t *testing.T) {
	t.Parallel()
	const body = `{"ma2h_version":"0.5","id":"rcpt_a","in_reply_to":"m","resolution":"answered","resolution_id":"r"}`
	key := signature.HMAC(fixtureSecret)
	for name, build := range map[string]func([]byte, string) (signature.Context, error){
		"Response": signature.Response, "EntryResponse": signature.EntryResponse, "Receipt": signature.Receipt,
	} {
		here, _ := build([]byte(body), "agent:a#sess_1")
		there, _ := build([]byte(body), "agent:a#sess_2")
		header := mustSign(t, here, key)
		if _, err := here.Verify(header, fixtureTime, signature.Window, key); err != nil {
			t.Errorf("%s: Verify where it was sent = %v, want nil", name, err)
		}
		if _, err := there.Verify(header, fixtureTime, signature.Window, key); !errors.Is(err, signature.ErrMismatch) {
			t.Errorf("%s: Verify elsewhere = %v, want %v", name, err, signature.ErrMismatch)
		}
	}
}

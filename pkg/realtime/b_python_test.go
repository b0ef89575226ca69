package realtime_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// given is a push as tools/verify_push.py takes it.
type given struct {
	URL    string          `json:"url"`
	Header string          `json:"header"`
	Body   []byte          `json:"body"`
	Now    int64           `json:"now"`
	Secret string          `json:"secret,omitempty"`
	JWKS   json.RawMessage `json:"jwks,omitempty"`
}

// python returns the Python that has what the verifier needs. Without one the test is left out, unless everything has to run.
func python(t *testing.T) string {
	t.Helper()
	script := exec.Command("../../tools/python.sh")
	var said bytes.Buffer
	script.Stderr = &said
	out, err := script.Output()
	if err == nil {
		return strings.TrimSpace(string(out))
	}
	if os.Getenv("MASH_REQUIRE_ALL") == "1" {
		t.Fatalf("no Python for the verifier: %v: %s", err, said.String())
	}
	t.Skipf("left out: no Python for the verifier: %s", said.String())
	return ""
}

// verdicts asks the verifier about pushes that come one after the other. An empty one is that of a push that is good.
func verdicts(t *testing.T, interpreter string, pushes ...given) []string {
	t.Helper()
	in, err := json.Marshal(pushes)
	if err != nil {
		t.Fatal(err)
	}
	verifier := exec.Command(interpreter, "../../tools/verify_push.py")
	verifier.Stdin = bytes.NewReader(in)
	var said bytes.Buffer
	verifier.Stderr = &said
	out, err := verifier.Output()
	if err != nil {
		t.Fatalf("the verifier: %v: %s", err, said.String())
	}
	var why []*string
	if err := json.Unmarshal(out, &why); err != nil || len(why) != len(pushes) {
		t.Fatalf("the verifier says %s of %d pushes", out, len(pushes))
	}
	got := make([]string, len(why))
	for i, w := range why {
		if w != nil {
			got[i] = *w
		}
	}
	return got
}

// TestB78_AnIndependentVerifierAgrees hands real pushes to a verifier that was written in another language from the text
// of the specification alone: it takes them as they came, and refuses each as soon as anything was changed.
func TestB78_AnIndependentVerifierAgrees(t *testing.T) {
	interpreter := python(t)
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		s.owner.call(endpoint.SecretAdd, doc{"agent": bot.id, "ref": "env:TOKEN"}).is(201)
		jwks := s.nobody().call(endpoint.JWKS, nil).is(200).body
		for _, scheme := range []string{ma2h.SchemeHMAC, ma2h.SchemeBearer, ma2h.SchemeAPIKey} {
			s.run(scheme, func() {
				push := s.onePushOf(bot, scheme)
				if scheme == ma2h.SchemeHMAC {
					push.Secret = bot.secret
				} else {
					push.JWKS = jwks
				}
				if got := verdicts(s.t, interpreter, push); got[0] != "" {
					s.t.Fatalf("a push as it came is refused: %s\n%s", got[0], push.Body)
				}
				if got := verdicts(s.t, interpreter, push, push); got[0] != "" || got[1] == "" {
					s.t.Errorf("a push that comes twice is judged %q, want the second one refused", got)
				}
				s.refusesWhatWasChanged(interpreter, push)
			})
		}
	})
}

// onePushOf has an ask answered whose answer has everything that can be changed, and returns the push.
func (s *server) onePushOf(bot *caller, scheme string) given {
	s.t.Helper()
	in := s.callback()
	to := in.pushed()
	if scheme != ma2h.SchemeHMAC {
		to = in.credential(scheme)
	}
	id := bot.accepted(s.ask(to, set("/state", doc{"n": 1.5, "s": "é\u2028 <&>", "deep": []any{nil, true, doc{"b": 1, "a": 1e21}}})))
	s.owner.resolve(id, doc{"resolution": "answered", "value": "approve", "comment": "Nur zu – 👍"}).is(200)
	s.until("it is pushed", func() bool { return len(in.attempts()) > 0 })
	got := in.attempts()[0]
	return given{URL: in.url(), Header: got.header.Get("MA2H-Signature"), Body: got.body, Now: time.Now().Unix()}
}

func (s *server) refusesWhatWasChanged(interpreter string, push given) {
	s.t.Helper()
	var names []string
	var changed []given
	change := func(name string, f func(*given)) {
		g := push
		g.Body = bytes.Clone(push.Body)
		f(&g)
		if g.Header == push.Header && bytes.Equal(g.Body, push.Body) && g.URL == push.URL && g.Now == push.Now &&
			g.Secret == push.Secret && bytes.Equal(g.JWKS, push.JWKS) {
			s.t.Errorf("%s changes nothing in %s", name, push.Body)
		}
		names, changed = append(names, name), append(changed, g)
	}
	body := func(name, from, to string) {
		change(name, func(g *given) { g.Body = bytes.Replace(g.Body, []byte(from), []byte(to), 1) })
	}
	header := func(name, pattern string, to func(string) string) {
		change(name, func(g *given) { g.Header = regexp.MustCompile(pattern).ReplaceAllStringFunc(g.Header, to) })
	}
	body("the value", `"value":"approve"`, `"value":"deny"`)
	body("the comment", "Nur zu", "Bloß nicht")
	body("the actor", `"actor":"human:`, `"actor":"human:x`)
	body("the state", `"n":1.5`, `"n":1.25`)
	body("a value deep in the state", "true", "false")
	body("the resolution", `"resolution":"answered"`, `"resolution":"declined"`)
	body("the resolution_id", `"resolution_id":"res_`, `"resolution_id":"res_0`)
	body("the message", `"in_reply_to":"msg_`, `"in_reply_to":"msg_0`)
	body("the version", `"ma2h_version":"0.6"`, `"ma2h_version":"0.5"`)
	body("a value twice", `"value":"approve"`, `"value":"approve","value":"approve"`)
	change("when it was resolved", func(g *given) {
		g.Body = regexp.MustCompile(`"resolved_at":"2`).ReplaceAll(g.Body, []byte(`"resolved_at":"3`))
	})
	change("the endpoint", func(g *given) { g.URL += "/elsewhere" })
	header("the nonce", "jti=", func(s string) string { return s + "x" })
	header("the time", "t=[0-9]+", func(s string) string { return s[:len(s)-1] + string('0'+('9'-s[len(s)-1]+'0')%10) })
	change("how long ago it was", func(g *given) { g.Now += 121 + 1 })
	change("that it is to come", func(g *given) { g.Now -= 121 + 30 })
	header("a bit of the signature", "v1=.", func(s string) string {
		if s == "v1=A" {
			return "v1=B"
		}
		return "v1=A"
	})
	header("the end of the signature", ".{10}$", func(string) string { return "" })
	header("that there is a signature", "v1=.*", func(string) string { return "" })
	change("the key", func(g *given) {
		if g.Secret != "" {
			g.Secret += "x"
			return
		}
		g.JWKS = fmt.Appendf(nil, `{"keys":[{"kty":"OKP","crv":"Ed25519","x":%q}]}`, base64.RawURLEncoding.EncodeToString(make([]byte, 32)))
	})
	if len(names) < 10 {
		s.t.Errorf("%d ways to change a push, want at least ten", len(names))
	}
	s.allRefused(interpreter, names, changed)
}

func (s *server) allRefused(interpreter string, names []string, changed []given) {
	s.t.Helper()
	for i, why := range verdicts(s.t, interpreter, changed...) {
		if why == "" {
			s.t.Errorf("a push is taken after somebody changed %s", names[i])
		}
	}
}

package inbox

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEveryKeyHasASentence reads the keys out of the templates and the code. Keys that are put together, such as
// verdict. and a status, are named here in full.
func TestEveryKeyHasASentence(t *testing.T) {
	t.Parallel()
	words := english()
	used := map[string]bool{}
	for _, k := range strings.Fields(`verdict.declined verdict.cancelled verdict.completed verdict.dismissed
		priority.urgent priority.high priority.low outcome.declined outcome.cancelled outcome.completed
		outcome.dismissed push.network push.guarded push.refused push.dns push.connect push.tls push.timeout push.reset push.too_long
		push.malformed push.unbound push.no_key push.revoked push.no_webhook push.stopped field.minimum field.maximum
		field.exclusiveMinimum field.exclusiveMaximum hint.minimum hint.maximum hint.exclusiveMinimum hint.exclusiveMaximum
		filter.agent filter.kind filter.outcome filter.by filter.agent.is filter.kind.is filter.outcome.is filter.by.is filter.from.is
		filter.until.is kind.ask kind.task kind.notify ended.answered ended.declined ended.completed ended.dismissed ended.cancelled
		ended.expired agent.added agent.rotated agent.token agent.token.older host.well-known host.dns host.person
		notice.agent.bound notice.agent.unbound notice.agent.used notice.agent.removed notice.agent.stopped notice.agent.lifted
		notice.agent.closed notice.agent.over notice.agent.senders notice.agent.pushed notice.agent.unpushed notice.mail.on notice.mail.off field.multipleOf hint.multipleOf hint.exactly hint.between hint.most hint.least hint.items.exactly hint.items.between
		hint.items.most hint.items.least hint.exactly.one hint.most.one hint.items.exactly.one hint.items.most.one
		signin.first signin.used
		session.via.password session.via.invitation notice.resolvers.set notice.password.set notice.password.removed
		notice.session.ended notice.token.revoked notice.did.removed notice.did.uninvited notice.joined.1`) {
		used[k] = true
	}
	for _, k := range strings.Fields("forged not_authorized join.dead not_found gone method_not_allowed too_large unavailable refused internal_error") {
		used[k+".title"], used[k+".text"] = true, true
	}
	collect(t, used)
	for k := range used {
		if _, ok := words[k]; !ok {
			t.Errorf("no sentence stands under %q", k)
		}
	}
	for k := range words {
		if !used[k] {
			t.Errorf("nothing uses %q", k)
		}
	}
	if len(used) < 100 {
		t.Errorf("only %d keys found", len(used))
	}
}

func TestParseCatalogue(t *testing.T) {
	t.Parallel()
	got, err := parseCatalogue("# of pages\n\na = A = B, %s\n  b.c = “#”  \n")
	if diff := cmp.Diff(catalogue{"a": "A = B, %s", "b.c": "“#”"}, got); err != nil || diff != "" {
		t.Errorf("parseCatalogue: %v (-want +got):\n%s", err, diff)
	}
	for _, text := range []string{"a", "a =", "a=b", "= b", "a b = c", "a = b\na = c"} {
		if got, err := parseCatalogue(text); err == nil {
			t.Errorf("parseCatalogue(%q) = %v, want an error", text, got)
		}
	}
}

// collect adds the keys that stand as literals where the catalogue is asked.
func collect(t *testing.T, used map[string]bool) {
	t.Helper()
	asked := regexp.MustCompile(`(?:\{\{-? ?|\(| )t "([a-z.-]+)"|(?:\.html|\.plain|said|\badd)\("([a-z.-]+)"|still\("[a-z]+", "([a-z.-]+)"`)
	counted := regexp.MustCompile(`(?:\{\{n |\.counted\(|\.bound\()"([a-z.-]+)"`)
	for _, pattern := range []string{"*.go", "templates/*.html"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("files %s: %v, %v", pattern, files, err)
		}
		for _, name := range files {
			content, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range asked.FindAllStringSubmatch(string(content), -1) {
				used[m[1]+m[2]+m[3]] = true
			}
			for _, m := range counted.FindAllStringSubmatch(string(content), -1) {
				used[m[1]], used[m[1]+".one"] = true, true
			}
		}
	}
	maps.DeleteFunc(used, func(k string, _ bool) bool { return strings.HasSuffix(k, ".") }) // the rest is put behind it
}

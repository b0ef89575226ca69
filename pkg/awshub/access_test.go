package awshub_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/dynamostore/dynamotest"
	"github.com/mash-hub/mash/pkg/endpoint"
)

// TestAccessIsWhatTheTableSays drives every function in every way that matters, listens to what it sends to AWS, and
// compares that with its row in pkg/endpoint, from which its permissions are made: nothing that is not listed, and nothing
// listed that is never done.
func TestAccessIsWhatTheTableSays(t *testing.T) {
	t.Parallel()
	drives := drives()
	for _, f := range endpoint.Functions() {
		drive, ok := drives[f.Name]
		if !ok {
			t.Errorf("nothing drives %s", f.Name)
			continue
		}
		t.Run(string(f.Name), func(t *testing.T) {
			t.Parallel()
			s := driven(t)
			drive(s)
			if diff := cmp.Diff(listed(f.Access), s.uses.all()); diff != "" {
				t.Errorf("what %s does (-listed in pkg/endpoint +done)\n%s", f.Name, diff)
			}
		})
	}
}

// listed returns what an Access allows, in the words of uses.
func listed(a endpoint.Access) []string {
	all := []string{}
	for what, kinds := range map[string][]string{
		"get ": a.Get, "list ": a.List, "put ": a.Put, "erase ": a.Erase, "check ": a.Check,
	} {
		for _, k := range kinds {
			all = append(all, what+k)
		}
	}
	for _, i := range a.Indexes {
		for _, list := range i.Lists {
			all = append(all, "index "+i.Name+" "+list)
		}
	}
	if a.Unwraps {
		all = append(all, "unwrap")
	}
	if a.Arms {
		all = append(all, "arm expiry", "arm callback")
	}
	if a.Rings {
		all = append(all, "do SendMessage")
	}
	if a.Listens {
		all = append(all, "do ChangeMessageVisibility", "do CreateQueue", "do DeleteMessageBatch", "do ReceiveMessage")
	}
	if a.Forgets {
		all = append(all, "do DeleteQueue")
	}
	slices.Sort(all)
	return all
}

// uses is a transport that notes what a function asks of AWS: requests as they are sent, so that nothing between the hub
// and the wire can hide one. It answers for Step Functions itself.
type uses struct {
	next http.RoundTripper
	key  string // in KMS

	mu   sync.Mutex
	seen map[string]bool
	part string // see before
	do   func()
}

func (u *uses) all() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.AppendSeq([]string{}, slices.Values(slices.Sorted(maps.Keys(u.seen))))
}

func (u *uses) note(format string, args ...any) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.seen[fmt.Sprintf(format, args...)] = true
}

// RoundTrip implements http.RoundTripper.
func (u *uses) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	_, action, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if err := u.read(action, body); err != nil {
		return nil, fmt.Errorf("read what %s asks: %w", action, err)
	}
	u.happening(action, body)()
	if action == "StartExecution" {
		return &http.Response{
			StatusCode: http.StatusOK, Request: r, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
			Body: io.NopCloser(strings.NewReader(`{"executionArn":"arn","startDate":1}`)),
		}, nil
	}
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	return u.next.RoundTrip(r)
}

// attributes is an item, or a part of one, on the wire; values that are no text read as empty.
type attributes map[string]struct{ S string }

// kind tells the kind of a record from its key: whether kinds that share a part are read or erased is seen nowhere else.
func (a attributes) kind() string {
	part, sort := a["pk"].S, a["sk"].S
	for kind, beginning := range map[string]string{
		"account": "account", "agent": "agent", "content": "content", "deed": "", "directive": "", "key": "", "limited": "limited#", "live": "live",
		"login": "login#", "password": "password", "person": "person", "row": "", "seen": "seen", "session": "session",
		"state": "state", "tries": "tries",
	} {
		if matches(endpoint.PartOf(kind), part) && (beginning == "" || matches(beginning, sort)) {
			return kind
		}
	}
	return fmt.Sprintf("?%s %s", part, sort)
}

func matches(place, key string) bool {
	return key == place || strings.HasSuffix(place, "#") && strings.HasPrefix(key, place)
}

// keyed is an item or the key of one.
type keyed struct{ Item, Key attributes }

// asked is what the bodies of all requests have of what is looked at here.
type asked struct {
	keyed
	RequestItems  map[string]struct{ Keys []attributes }
	TransactItems []struct{ Put, Delete, ConditionCheck *keyed }

	IndexName                 string
	ExpressionAttributeValues attributes

	KeyID             string `json:"KeyId"`
	EncryptionContext map[string]string

	StateMachineARN string `json:"stateMachineArn"`
}

func (u *uses) read(action string, body []byte) error {
	var in asked
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	switch action {
	case "BatchGetItem":
		for _, of := range in.RequestItems {
			for _, key := range of.Keys {
				u.note("get %s", key.kind())
			}
		}
	case "Query":
		u.query(in)
	case "PutItem":
		u.put(in.Item)
	case "DeleteItem":
		u.note("erase %s", in.Key.kind())
	case "TransactWriteItems":
		for _, w := range in.TransactItems {
			switch {
			case w.Put != nil:
				u.put(w.Put.Item)
			case w.Delete != nil:
				u.note("erase %s", w.Delete.Key.kind())
			default:
				u.note("check %s", w.ConditionCheck.Key.kind())
			}
		}
	case "Decrypt":
		if in.KeyID != u.key || !maps.Equal(in.EncryptionContext, map[string]string{"mash:purpose": endpoint.UnwrapPurpose}) {
			u.note("decrypt under %s for %v", in.KeyID, in.EncryptionContext)
		}
		u.note("unwrap")
	case "StartExecution":
		u.note("arm %s", in.StateMachineARN)
	default:
		u.note("do %s", action)
	}
	return nil
}

// put notes the kind that the record itself names, so that attributes.kind and endpoint.PartOf are held to it. A directive has
// the kinds of record that a message has, elsewhere.
func (u *uses) put(item attributes) {
	kind, at := item["kind"].S, item.kind()
	if at == "directive" && (kind == "content" || kind == "state") {
		kind = at
	}
	u.note("put %s", kind)
	if at != kind {
		u.note("put %s where %s lies", kind, at)
	}
}

// before lets something happen once, right before a Commit that writes to a part which begins like this.
func (u *uses) before(part string, do func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.part, u.do = part, do
}

// happening returns what is to happen before a request is sent.
func (u *uses) happening(action string, body []byte) func() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.do == nil || action != "TransactWriteItems" || !bytes.Contains(body, []byte(`"`+u.part)) {
		return func() {}
	}
	do := u.do
	u.do = nil
	return do
}

func (u *uses) query(in asked) {
	if in.IndexName == "" {
		part := in.ExpressionAttributeValues[":part"]
		if matches(endpoint.PartOf("login"), part.S) { // of whose part only logins are listed
			u.note("list login")
			return
		}
		u.note("list %s", attributes{"pk": part}.kind())
		return
	}
	name := in.ExpressionAttributeValues[":name"].S + in.ExpressionAttributeValues[":shard"].S
	list, _, _ := strings.Cut(name, "#")
	u.note("index %s %s#", in.IndexName, list)
}

// drive is a stack whose functions are listened to, with what there is to do in it.
type drive struct {
	*stack
	quiet      *stack // the same, unheard
	uses       *uses
	receiver   *receiver
	bot, alice string // tokens
	other      string // of another agent, where there is one
}

func driven(t *testing.T) *drive {
	r := newReceiver(t, 0)
	s := deploy(t, strings.TrimPrefix(r.URL, "http://"))
	quiet := *s
	d := &drive{stack: s, quiet: &quiet, receiver: r, bot: s.bot(), alice: s.alice()}
	d.uses = &uses{next: dynamotest.Transport(t), key: s.config.Key, seen: map[string]bool{}}
	s.config.AWS = dynamotest.Config(d.uses)
	s.config.ExpiryMachine, s.config.CallbackMachine = "expiry", "callback"
	return d
}

package dynamostore_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/mash-hub/mash/pkg/dynamostore"
	"github.com/mash-hub/mash/pkg/dynamostore/dynamotest"
	"github.com/mash-hub/mash/pkg/record"
)

// line is a transport whose requests go wrong as long as faults are left, and which counts them by operation.
type line struct {
	next http.RoundTripper

	mu     sync.Mutex
	faults []fault
	sent   []string
}

// fault stands in for one request.
type fault func(next http.RoundTripper, r *http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (l *line) RoundTrip(r *http.Request) (*http.Response, error) {
	_, op, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	l.mu.Lock()
	l.sent = append(l.sent, op)
	var f fault
	if len(l.faults) > 0 {
		f, l.faults = l.faults[0], l.faults[1:]
	}
	l.mu.Unlock()
	if f != nil {
		return f(l.next, r)
	}
	return l.next.RoundTrip(r)
}

// inject makes the next n requests go wrong.
func (l *line) inject(n int, f fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for range n {
		l.faults = append(l.faults, f)
	}
}

// took returns the operations sent since the last call.
func (l *line) took() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	ops := strings.Join(l.sent, " ")
	l.sent = nil
	return ops
}

// refuse answers with an error of DynamoDB without passing the request on.
func refuse(code string, fields map[string]any) fault {
	return func(_ http.RoundTripper, r *http.Request) (*http.Response, error) {
		body := map[string]any{"__type": "com.amazonaws.dynamodb.v20120810#" + code, "message": "injected"}
		for k, v := range fields {
			body[k] = v
		}
		return answer(r, http.StatusBadRequest, body)
	}
}

// conflict is the answer to a transaction of two items of which the second is in another transaction.
func conflict(code string) fault {
	return refuse("TransactionCanceledException", map[string]any{
		"CancellationReasons": []map[string]string{{"Code": "None"}, {"Code": code, "Message": "injected"}},
	})
}

// timeout passes the request on, calls meanwhile, and reports that there was no answer, so that the SDK tries again.
func timeout(meanwhile func()) fault {
	return func(next http.RoundTripper, r *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			return nil, err
		}
		if err := resp.Body.Close(); err != nil {
			return nil, err
		}
		meanwhile()
		return nil, &net.OpError{Op: "read", Net: "tcp", Err: errors.New("connection reset by peer")}
	}
}

// unprocessed answers a BatchGetItem with nothing done.
func unprocessed(_ http.RoundTripper, r *http.Request) (*http.Response, error) {
	var in struct{ RequestItems any }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return nil, err
	}
	return answer(r, http.StatusOK, map[string]any{"Responses": map[string]any{}, "UnprocessedKeys": in.RequestItems})
}

func answer(r *http.Request, status int, body any) (*http.Response, error) {
	b, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r, ContentLength: int64(len(b)),
		Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, Body: io.NopCloser(bytes.NewReader(b)),
	}, nil
}

// open returns a Store whose requests go over the line. Without the SDK's own retries a fault meets ours at once.
func open(t *testing.T, options ...func(*dynamodb.Options)) (*dynamostore.Store, *line) {
	t.Helper()
	l := &line{next: dynamotest.Transport(t)}
	table := dynamotest.Table(t, dynamotest.Client(l.next))
	return dynamostore.New(dynamotest.Client(l, options...), table), l
}

func withoutRetries(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }

func withQuickRetries(o *dynamodb.Options) {
	o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) { o.MaxBackoff = time.Millisecond })
}

func rec(sort string) record.Record {
	return record.Record{
		Key: record.Key{Part: "p", Sort: sort}, Kind: "test", Body: []byte("body of " + sort), Due: time.Unix(1, 0),
		Tags: [2]record.Tag{{Name: "n", Order: sort}},
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// rev returns the revision that stands under a sort.
func rev(t *testing.T, s *dynamostore.Store, sort string) string {
	t.Helper()
	got, err := s.Get(t.Context(), rec(sort).Key)
	must(t, err)
	return got[0].Rev
}

func TestRefusedForAWhile(t *testing.T) {
	t.Parallel()
	faults := map[string]fault{
		"throttled":              refuse("ThrottlingException", nil),
		"throughput":             refuse("ProvisionedThroughputExceededException", nil),
		"request limit":          refuse("RequestLimitExceeded", nil),
		"conflict":               refuse("TransactionConflictException", nil),
		"in progress":            refuse("TransactionInProgressException", nil),
		"transaction conflict":   conflict("TransactionConflict"),
		"transaction throttled":  conflict("ThrottlingError"),
		"transaction throughput": conflict("ProvisionedThroughputExceeded"),
	}
	for name, f := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, l := open(t, withoutRetries)
			l.inject(5, f)
			one := record.Put(rec("one"), "")
			if err := s.Commit(t.Context(), one); err != nil {
				t.Errorf("Commit of one = %v", err)
			}
			l.inject(5, f)
			if err := s.Commit(t.Context(), record.Put(rec("two"), ""), record.Check(one.Record.Key, one.Record.Rev)); err != nil {
				t.Errorf("Commit of two = %v", err)
			}
			if got := rev(t, s, "one"); got != one.Record.Rev {
				t.Errorf("the rev is %s, want %s", got, one.Record.Rev)
			}
		})
	}
}

func TestReadsThrottled(t *testing.T) {
	t.Parallel()
	s, l := open(t, withoutRetries)
	must(t, s.Commit(t.Context(), record.Put(rec("a"), "")))
	throttle := refuse("ThrottlingException", nil)

	l.inject(3, throttle)
	l.inject(3, unprocessed)
	if got, err := s.Get(t.Context(), rec("a").Key, rec("b").Key); err != nil || got[0].Rev == "" || got[1].Rev != "" {
		t.Errorf("Get = %v, %v", got, err)
	}
	l.inject(3, throttle)
	if got, err := s.List(t.Context(), "p", "", 10); err != nil || len(got) != 1 {
		t.Errorf("List = %v, %v", got, err)
	}
	l.inject(3, throttle)
	if got, err := s.Index(t.Context(), 1, "n", record.Entry{}, 10); err != nil || len(got) != 1 {
		t.Errorf("Index = %v, %v", got, err)
	}
	l.inject(20, throttle)
	if got, err := s.Due(t.Context(), time.Now(), record.Entry{}, 10); err != nil || len(got) != 1 {
		t.Errorf("Due = %v, %v", got, err)
	}
}

// TestRefusedAsLongAsThereIsTime must end with the refusal, in time to say so, and never with a Conflict.
func TestRefusedAsLongAsThereIsTime(t *testing.T) {
	t.Parallel()
	s, l := open(t, withoutRetries)
	l.inject(1000, conflict("TransactionConflict"))
	ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
	defer cancel()
	err := s.Commit(ctx, record.Put(rec("a"), ""), record.Put(rec("b"), ""))
	_, refused := errors.AsType[*types.TransactionCanceledException](err)
	if !refused || record.AsConflict(err) != nil || ctx.Err() != nil {
		t.Errorf("Commit = %v with %v, want the refusal before the deadline", err, ctx.Err())
	}
}

func TestOtherErrorsAreNotTriedAgain(t *testing.T) {
	t.Parallel()
	s, l := open(t, withoutRetries)
	for _, f := range []fault{refuse("ValidationException", nil), conflict("ValidationError")} {
		l.inject(1, f)
		err := s.Commit(t.Context(), record.Put(rec("a"), ""), record.Put(rec("b"), ""))
		if err == nil || record.AsConflict(err) != nil || !strings.Contains(err.Error(), "commit p/a") {
			t.Errorf("Commit = %v", err)
		}
		if ops := l.took(); ops != "TransactWriteItems" {
			t.Errorf("it sent %s", ops)
		}
	}
}

// TestAnswersLost lets requests succeed without an answer. The SDK repeats them, and they meet what they wrote.
func TestAnswersLost(t *testing.T) {
	t.Parallel()
	s, l := open(t, withQuickRetries)
	nothing := func() {}
	commit := func(writes ...record.Write) {
		t.Helper()
		l.took()
		l.inject(1, timeout(nothing))
		if err := s.Commit(t.Context(), writes...); err != nil {
			t.Errorf("Commit = %v", err)
		}
		if n := len(strings.Fields(l.took())); n != 2 {
			t.Errorf("it sent %d requests, want 2", n)
		}
	}
	a := record.Put(rec("a"), "")
	commit(a)
	again := record.Put(rec("a"), a.Record.Rev)
	commit(again)
	b := record.Put(rec("b"), "")
	commit(record.Erase(again.Record.Key, again.Record.Rev), b)
	commit(record.Erase(b.Record.Key, b.Record.Rev))
	if rev(t, s, "a") != "" || rev(t, s, "b") != "" {
		t.Error("something was left")
	}
}

// TestAnswersLostAndOvertaken lets another write come in between the request and its repetition.
func TestAnswersLostAndOvertaken(t *testing.T) {
	t.Parallel()
	s, l := open(t, withQuickRetries)
	ours := record.Put(rec("a"), "")
	theirs := record.Put(rec("a"), ours.Record.Rev)
	l.inject(1, timeout(func() {
		if err := s.Commit(t.Context(), theirs); err != nil {
			t.Errorf("the other Commit = %v", err)
		}
	}))
	err := s.Commit(t.Context(), ours)
	c := record.AsConflict(err)
	if c == nil {
		t.Fatalf("Commit = %v, want a conflict", err)
	}
	if winner, _ := c.Winner(ours.Record.Key); winner.Rev != theirs.Record.Rev || string(winner.Body) != "body of a" {
		t.Errorf("winner = %v, want %v", winner, theirs.Record)
	}

	// Of a transaction DynamoDB itself still knows, by its token.
	pair := []record.Write{record.Put(rec("a"), theirs.Record.Rev), record.Put(rec("b"), "")}
	later := []record.Write{record.Put(rec("a"), pair[0].Record.Rev), record.Put(rec("b"), pair[1].Record.Rev)}
	l.inject(1, timeout(func() {
		if err := s.Commit(t.Context(), later...); err != nil {
			t.Errorf("the other Commit = %v", err)
		}
	}))
	if err := s.Commit(t.Context(), pair...); err != nil {
		t.Errorf("Commit of two = %v", err)
	}
	if got := rev(t, s, "a"); got != later[0].Record.Rev {
		t.Errorf("the rev is %s, want the later %s", got, later[0].Record.Rev)
	}
}

// TestRequests counts what an operation costs.
func TestRequests(t *testing.T) {
	t.Parallel()
	s, l := open(t)
	a, b := record.Put(rec("a"), ""), record.Put(rec("b"), "")
	expect := func(want string, err error) {
		t.Helper()
		if got := l.took(); err != nil || got != want {
			t.Errorf("sent %q, %v, want %q", got, err, want)
		}
	}
	expect("PutItem", s.Commit(t.Context(), a))
	expect("TransactWriteItems", s.Commit(t.Context(), b, record.Check(a.Record.Key, a.Record.Rev)))
	expect("BatchGetItem", s.Commit(t.Context(), record.Check(a.Record.Key, a.Record.Rev)))
	_, err := s.Get(t.Context(), a.Record.Key, b.Record.Key, rec("c").Key)
	expect("BatchGetItem", err)
	_, err = s.List(t.Context(), "p", "", 2)
	expect("Query", err)
	_, err = s.Index(t.Context(), 1, "n", record.Entry{}, 2)
	expect("Query", err)
	_, err = s.Due(t.Context(), time.Now(), record.Entry{}, 2)
	expect(strings.TrimSpace(strings.Repeat("Query ", 16)), err)
	expect("DeleteItem", s.Commit(t.Context(), record.Erase(a.Record.Key, a.Record.Rev)))
	if record.AsConflict(s.Commit(t.Context(), record.Put(rec("b"), ""))) == nil {
		t.Error("a lost put is no conflict")
	}
	expect("PutItem", nil)
}

func TestNamespaces(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	stores := []*dynamostore.Store{s.In("one#"), s.In("two#"), s.In("three#")}
	var writes []record.Write
	for _, s := range stores {
		w := record.Put(rec("a"), "")
		must(t, s.Commit(t.Context(), w))
		writes = append(writes, w)
	}
	for i, s := range stores {
		got, err := s.List(t.Context(), "p", "", 10)
		if err != nil || len(got) != 1 || got[0].Rev != writes[i].Record.Rev || got[0].Tags != writes[i].Record.Tags {
			t.Errorf("List = %v, %v", got, err)
		}
		entries, err := s.Index(t.Context(), 1, "n", record.Entry{}, 10)
		if err != nil || len(entries) != 1 || entries[0] != (record.Entry{Key: rec("a").Key, Order: "a"}) {
			t.Errorf("Index = %v, %v", entries, err)
		}
		entries, err = s.Due(t.Context(), time.Now(), record.Entry{}, 10)
		if err != nil || len(entries) != 1 || entries[0].Key != rec("a").Key {
			t.Errorf("Due = %v, %v", entries, err)
		}
	}
}

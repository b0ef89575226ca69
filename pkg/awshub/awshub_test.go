package awshub_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/dynamostore/dynamotest"
	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/lambdahttp"
	"github.com/mash-hub/mash/pkg/record"
	"github.com/mash-hub/mash/pkg/sqsbell"
)

func TestMain(m *testing.M) { os.Exit(dynamotest.Main(m)) }

// patience is how long a test waits for what must come, on a machine that does much else besides.
const patience = 30 * time.Second

// grace is how long the sweep of a test leaves to executions what is theirs.
const grace = 500 * time.Millisecond

// doc is a JSON object.
type doc map[string]any

// stack is what a deployment would be: a table, a key, and functions that share nothing else.
type stack struct {
	t      *testing.T
	config awshub.Config
	hub    *hub.Hub // an operator's, to make what no endpoint makes
	owner  *hub.Caller
	log    *bytes.Buffer
}

// deploy makes a stack of its own for one test.
func deploy(t *testing.T, allowCallback ...string) *stack {
	t.Helper()
	transport := dynamotest.Transport(t)
	config := dynamotest.Config(transport)
	key, err := kms.NewFromConfig(config).CreateKey(t.Context(), &kms.CreateKeyInput{})
	if err != nil {
		t.Fatal(err)
	}
	s := &stack{t: t, log: &bytes.Buffer{}}
	settings := hub.DefaultSettings()
	settings.Grace, settings.StreamMaxHold = grace, 2*time.Second
	settings.InboxDepth = 50 // so that what waits is soon counted
	s.config = awshub.Config{
		Settings: settings.Text(), Stack: "Mash",
		Table: dynamotest.Table(t, dynamotest.Client(transport)), BaseURL: "https://hub.example",
		Queues: "https://sqs.us-east-1.amazonaws.com/000000000000/" + record.NewRev() + "-",
		Key:    aws.ToString(key.KeyMetadata.KeyId), AWS: config, AllowCallback: allowCallback,
		Log: slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelError})),
	}
	if s.hub, err = s.config.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.owner, _, err = s.hub.EnsureOwner(t.Context(), "alice"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if s.log.Len() > 0 {
			t.Errorf("errors in the log:\n%s", s.log)
		}
	})
	return s
}

// bot makes an agent, and alice returns a token of the owner.
func (s *stack) bot() string {
	s.t.Helper()
	made, err := s.hub.AddAgent(s.t.Context(), s.owner, "bot")
	if err != nil {
		s.t.Fatal(err)
	}
	return made.Token
}

func (s *stack) alice() string {
	s.t.Helper()
	token, err := s.hub.NewLogin(s.t.Context(), s.owner, hub.LoginToken, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	return token
}

// function starts the function of an endpoint, as a cold start does.
func (s *stack) function(name endpoint.Name) lambda.Handler {
	s.t.Helper()
	config := s.config
	if endpoint.Of(name).Access.Listens {
		config = config.Listening(sqsbell.Open)
	}
	h, err := config.Endpoint(s.t.Context(), name)
	if err != nil {
		s.t.Fatal(err)
	}
	if endpoint.Of(name).Streamed {
		return lambda.NewHandler(lambdahttp.StreamHandler(h))
	}
	return lambda.NewHandler(lambdahttp.Handler(h))
}

// reply is the answer to an event.
type reply struct {
	status  int
	header  map[string]string
	body    string
	cookies []string
}

func (r reply) doc(t *testing.T) doc {
	t.Helper()
	var d doc
	if err := json.Unmarshal([]byte(r.body), &d); err != nil {
		t.Fatalf("%d %s: %v", r.status, r.body, err)
	}
	return d
}

// send sends the event of a request, as an HTTP API makes it: with the path decoded.
func (s *stack) send(f lambda.Handler, method, target, token string, body any) reply {
	s.t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		s.t.Fatal(err)
	}
	e := events.APIGatewayV2HTTPRequest{
		Version: "2.0", RawPath: strings.ReplaceAll(u.Path, "%", "%25"), RawQueryString: u.RawQuery,
		Headers: map[string]string{"host": "hub.example", "authorization": "Bearer " + token},
		RequestContext: events.APIGatewayV2HTTPRequestContext{
			DomainName: "hub.example", HTTP: events.APIGatewayV2HTTPRequestContextHTTPDescription{Method: method, SourceIP: "203.0.113.7"},
		},
	}
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			s.t.Fatal(err)
		}
		e.Body = string(b)
	}
	in, err := json.Marshal(e)
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	out, err := f.Invoke(ctx, in)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, target, err)
	}
	begin, pushed, streamed := bytes.Cut(out, make([]byte, 8)) // which stand before the body of a stream
	var a events.APIGatewayV2HTTPResponse
	if err := json.Unmarshal(begin, &a); err != nil {
		s.t.Fatal(err)
	}
	if streamed {
		a.Body = string(pushed)
	}
	return reply{a.StatusCode, a.Headers, a.Body, a.Cookies}
}

// must is send with a status that must come.
func (s *stack) must(f lambda.Handler, method, target, token string, body any, want int) doc {
	s.t.Helper()
	r := s.send(f, method, target, token, body)
	if r.status != want {
		s.t.Fatalf("%s %s = %d %s, want %d", method, target, r.status, r.body, want)
	}
	if r.body == "" {
		return nil
	}
	return r.doc(s.t)
}

// ask is the envelope of an ask, with an optional deadline.
func ask(key string, request doc, expires time.Time) doc {
	d := doc{
		"ma2h_version": "0.6", "type": "ask", "idempotency_key": key, "title": "Deploy?",
		"agent": doc{"id": "bot", "run_id": "r"}, "created_at": time.Now().UTC().Format(time.RFC3339), "request": request,
	}
	if !expires.IsZero() {
		d["expires_at"] = expires.UTC().Format(time.RFC3339Nano)
	}
	return d
}

func messagePath(id any, tail string) string { return fmt.Sprintf("/v1/messages/%s%s", id, tail) }

func status(d doc) any { return d["status"] }

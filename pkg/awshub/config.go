// Package awshub wires a hub from the environment on AWS: records in DynamoDB, keys under KMS, and each endpoint, the
// pages and each worker as what a Lambda function of its own runs.
//
// What is due soon and told to somebody goes through the outbox: the table's stream brings what was committed, and the
// outbox starts an execution that calls fire or deliver at its time. So no endpoint needs to arm anything, and what was
// committed is armed whatever became of the one who committed it. The sweep does the rest, and whatever an execution left
// undone. What is read is right all along, since every read settles what is due.
package awshub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"github.com/mash-hub/mash/pkg/callback"
	"github.com/mash-hub/mash/pkg/dynamostore"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/keyring"
	"github.com/mash-hub/mash/pkg/kmskey"
	"github.com/mash-hub/mash/pkg/record"
)

// maxWait is the longest hold of a pull: API Gateway gives a request 30 s, whatever the function's own timeout is.
const maxWait = 25 * time.Second

// answerTimeout is how long one request to AWS may take, of several tries that the SDK makes. Its own client waits without
// end for an answer that is lost, and would use up all the time that there is for the request of the hub.
const answerTimeout = 5 * time.Second

// defaultGrace is hub.Settings.Grace unless the settings say otherwise: longer than any attempt at a callback lasts.
const defaultGrace = 2 * time.Minute

// Config is how to run a hub on AWS.
type Config struct {
	Table   string // of DynamoDB, in the form of dynamostore.CreateTable
	BaseURL string // public address without a trailing slash
	Streams string // where streams are served, for the capability document; empty for nowhere
	Key     string // id, ARN or alias/name of the key in KMS under which the hub's keys lie
	AWS     aws.Config

	// Queues is how the URLs of the queues begin that wake who waits for mail: https://sqs.REGION.amazonaws.com/ACCOUNT/STACK- .
	// See Listening.
	Queues string

	Settings string // text of hub.Settings; empty for the defaults
	Stack    string // name of the stack, for sentences that say what to run

	// ExpiryMachine and CallbackMachine are the ARNs of the state machines of sfnclock, which only the outbox needs.
	ExpiryMachine, CallbackMachine string

	// AllowCallback is that of callback.Config. Only an emulated stage sets it.
	AllowCallback []string

	// Observe is that of dynamostore.Store. No environment variable sets it.
	Observe func(dynamostore.Operation)

	Log *slog.Logger // nil discards

	// Bell makes the hub's Bell; nil means one that hears nothing, so that who waits looks now and then. See Listening.
	Bell func(hub.Settings) hub.Bell

	// Now is the clock of the hub's keys; nil means the real one. No environment variable sets it.
	Now func() time.Time
}

// FromEnv reads what Lambda and the stack set: MASH_TABLE, MASH_BASE_URL, MASH_STREAM_URL, MASH_KMS_KEY, MASH_SETTINGS, MASH_STACK,
// MASH_QUEUES, MASH_EXPIRY_MACHINE, MASH_CALLBACK_MACHINE, MASH_ALLOW_CALLBACK (separated by commas), AWS_REGION and the function's
// credentials, and AWS_ENDPOINT_URL for another place than AWS. Whatever uses the Config says what is missing or wrong.
//
// It does not ask the SDK's chain of configuration, which links four services to look for credentials in places that a
// function does not have.
func FromEnv() Config {
	c := Config{
		Table:   os.Getenv("MASH_TABLE"),
		BaseURL: os.Getenv("MASH_BASE_URL"),
		Streams: os.Getenv("MASH_STREAM_URL"),
		Key:     os.Getenv("MASH_KMS_KEY"),

		Queues:   os.Getenv("MASH_QUEUES"),
		Settings: os.Getenv("MASH_SETTINGS"), Stack: os.Getenv("MASH_STACK"),
		ExpiryMachine: os.Getenv("MASH_EXPIRY_MACHINE"), CallbackMachine: os.Getenv("MASH_CALLBACK_MACHINE"),
		AllowCallback: strings.FieldsFunc(os.Getenv("MASH_ALLOW_CALLBACK"), func(r rune) bool { return r == ',' }),

		AWS: aws.Config{
			Region: os.Getenv("AWS_REGION"),
			Credentials: credentials.NewStaticCredentialsProvider(
				os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY"), os.Getenv("AWS_SESSION_TOKEN")),
			HTTPClient: awshttp.NewBuildableClient().WithTimeout(answerTimeout),
		},
		Log: slog.New(slog.NewJSONHandler(os.Stderr, nil)),
	}
	if endpoint := os.Getenv("AWS_ENDPOINT_URL"); endpoint != "" {
		c.AWS.BaseEndpoint = aws.String(endpoint)
	}
	return c
}

// check says what is missing or cannot be right, all of it at once.
func (c Config) check() error {
	var wrong []error
	for _, v := range []struct{ name, value string }{
		{"MASH_TABLE", c.Table}, {"MASH_KMS_KEY", c.Key}, {"AWS_REGION", c.AWS.Region},
	} {
		if v.value == "" {
			wrong = append(wrong, fmt.Errorf("%s is not set", v.name))
		}
	}
	u, err := url.Parse(c.BaseURL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || strings.HasSuffix(c.BaseURL, "/") {
		wrong = append(wrong, fmt.Errorf("MASH_BASE_URL is %q; write https://HOST without a slash at its end", c.BaseURL))
	}
	if _, err := c.settings(); err != nil {
		wrong = append(wrong, err)
	}
	return errors.Join(wrong...)
}

// Open returns the hub. It makes two requests, for the hub's keys and to open them. It makes no keys: without any it is
// keyring.ErrNoKeys.
func (c Config) Open(ctx context.Context) (*hub.Hub, error) { return c.with(ctx, keyring.Load) }

// Create is Open that makes the hub's keys unless they are there. No function may: see Bootstrap.
func (c Config) Create(ctx context.Context) (*hub.Hub, error) { return c.with(ctx, keyring.Open) }

func (c Config) with(
	ctx context.Context, load func(context.Context, record.Store, keyring.Wrapper) (*keyring.Keyring, error),
) (*hub.Hub, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	keys, err := load(ctx, c.store(), c.wrapper())
	if err != nil {
		return nil, err
	}
	keys.Now = c.Now
	return c.over(keys)
}

// openKeyless returns a hub for endpoints that use no key, without a request to anywhere.
func (c Config) openKeyless() (*hub.Hub, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return c.over(keyless{})
}

func (c Config) wrapper() *kmskey.Key { return kmskey.New(kms.NewFromConfig(c.AWS), c.Key) }

func (c Config) store() *dynamostore.Store {
	s := dynamostore.New(dynamodb.NewFromConfig(c.AWS), c.Table)
	s.Observe = c.Observe
	return s
}

func (c Config) over(keys hub.Keys) (*hub.Hub, error) {
	pusher, err := callback.New(callback.Config{Allow: c.AllowCallback})
	if err != nil {
		return nil, err
	}
	settings, err := c.settings()
	if err != nil {
		return nil, err
	}
	h := hub.New(c.store(), keys, attempts{pusher, c.log()}, c.bellOf(settings), idle{}, settings)
	h.Prover = pusher
	return h, nil
}

// settings returns those of Settings as they are on AWS.
func (c Config) settings() (hub.Settings, error) {
	s, err := hub.ParseSettings(c.Settings)
	if err != nil {
		return hub.Settings{}, fmt.Errorf("MASH_SETTINGS: %w", err)
	}
	s.BaseURL, s.StreamURL = c.BaseURL, c.Streams
	s.MaxWait = min(s.MaxWait, maxWait)
	s.Grace = cmp.Or(s.Grace, defaultGrace)
	return s, nil
}

func (c Config) log() *slog.Logger {
	if c.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return c.Log
}

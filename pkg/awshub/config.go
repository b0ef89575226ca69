// Package awshub wires a hub from the environment on AWS: records in DynamoDB, keys under KMS, and each endpoint, the
// pages and the sweep as what a Lambda function of its own runs.
//
// This is a first slice. Nothing makes what is due happen promptly yet: the sweep finds it, so a push, a retry or the
// notice of an expiry may be as late as the sweep's schedule. The answer to a resolve does not make the push itself,
// since a slow receiver would keep the person waiting and a function stands still once it has answered. What is read is
// right all along, since every read settles what is due.
package awshub

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"github.com/mash-hub/mash/pkg/callback"
	"github.com/mash-hub/mash/pkg/dynamostore"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/keyring"
	"github.com/mash-hub/mash/pkg/kmskey"
)

// maxWait is the longest hold of a pull: API Gateway gives a request 30 s, whatever the function's own timeout is.
const maxWait = 25 * time.Second

// Config is how to run a hub on AWS.
type Config struct {
	Table   string // of DynamoDB, in the form of dynamostore.CreateTable
	BaseURL string // public address without a trailing slash
	Key     string // id, ARN or alias/name of the key in KMS under which the hub's keys lie
	AWS     aws.Config

	// AllowCallback is that of callback.Config. No environment variable sets it.
	AllowCallback []string

	Log *slog.Logger // nil discards
}

// FromEnv reads what Lambda and the stack set: MASH_TABLE, MASH_BASE_URL, MASH_KMS_KEY, AWS_REGION and the function's
// credentials, and AWS_ENDPOINT_URL for another place than AWS. Whatever uses the Config says what is missing.
//
// It does not ask the SDK's chain of configuration, which links four services to look for credentials in places that a
// function does not have.
func FromEnv() Config {
	c := Config{
		Table:   os.Getenv("MASH_TABLE"),
		BaseURL: os.Getenv("MASH_BASE_URL"),
		Key:     os.Getenv("MASH_KMS_KEY"),
		AWS: aws.Config{
			Region: os.Getenv("AWS_REGION"),
			Credentials: credentials.NewStaticCredentialsProvider(
				os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY"), os.Getenv("AWS_SESSION_TOKEN")),
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
	return errors.Join(wrong...)
}

// Open returns the hub. It makes two requests, for the hub's keys and to open them, and on the first start of all makes
// the keys.
func (c Config) Open(ctx context.Context) (*hub.Hub, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	keys, err := keyring.Open(ctx, c.store(), kmskey.New(kms.NewFromConfig(c.AWS), c.Key))
	if err != nil {
		return nil, err
	}
	return c.over(keys)
}

// openKeyless returns a hub for endpoints that use no key, without a request to anywhere.
func (c Config) openKeyless() (*hub.Hub, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return c.over(keyless{})
}

func (c Config) store() *dynamostore.Store {
	return dynamostore.New(dynamodb.NewFromConfig(c.AWS), c.Table)
}

func (c Config) over(keys hub.Keys) (*hub.Hub, error) {
	pusher, err := callback.New(callback.Config{Allow: c.AllowCallback})
	if err != nil {
		return nil, err
	}
	settings := hub.DefaultSettings()
	settings.BaseURL = c.BaseURL
	settings.MaxWait = maxWait
	return hub.New(c.store(), keys, pusher, Bell{}, idle{}, settings), nil
}

func (c Config) log() *slog.Logger {
	if c.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return c.Log
}

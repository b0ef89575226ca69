// Package dynamotest gives tests a record.Store on the DynamoDB of an emulator, which localstack/up starts.
//
// The environment variable MASH_DYNAMO_ENDPOINT says where it is. Without it tests over DynamoDB are left out, unless
// MASH_REQUIRE_ALL is 1: then that is a failure. Nothing is ever skipped halfway.
package dynamotest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/mash-hub/mash/pkg/dynamostore"
	"github.com/mash-hub/mash/pkg/record"
)

// Main is for the TestMain of a package all of whose tests need DynamoDB: os.Exit(dynamotest.Main(m)).
func Main(m *testing.M) int {
	if endpoint() != "" {
		return m.Run()
	}
	fmt.Println("left out: MASH_DYNAMO_ENDPOINT is not set (see localstack/README.md)")
	if required() {
		return 1
	}
	return 0
}

// Wanted says whether a test should also run over DynamoDB. It fails t if that is not possible and yet required.
func Wanted(t testing.TB) bool {
	t.Helper()
	if endpoint() == "" && required() {
		t.Error("MASH_DYNAMO_ENDPOINT is not set and MASH_REQUIRE_ALL is 1")
	}
	return endpoint() != ""
}

func endpoint() string { return os.Getenv("MASH_DYNAMO_ENDPOINT") }

func required() bool { return os.Getenv("MASH_REQUIRE_ALL") == "1" }

// Store returns a Store of its own for one test, empty, on a table that goes with the test.
func Store(t testing.TB) record.Store {
	t.Helper()
	client := Client(Transport(t))
	return dynamostore.New(client, Table(t, client))
}

// Table makes a table for one test and returns its name. On the emulator that takes a few milliseconds, and keeps every
// table small, which matters there: it walks the whole of a table for a query of an index.
func Table(t testing.TB, client *dynamodb.Client) string {
	t.Helper()
	name := "mash-test-" + record.NewRev()
	if err := dynamostore.CreateTable(t.Context(), client, name); err != nil {
		t.Fatal(err)
	}
	keepAll(t, client, name)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if _, err := client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String(name)}); err != nil {
			t.Errorf("delete table %s: %v", name, err)
		}
	})
	return name
}

// keepAll ends the table's time to live. Tests have clocks of their own, years behind the emulator's, which would erase in
// the middle of a test whatever is to be kept until a day that is past.
func keepAll(t testing.TB, client *dynamodb.Client, table string) {
	t.Helper()
	was, err := client.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: aws.String(table)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.UpdateTimeToLive(t.Context(), &dynamodb.UpdateTimeToLiveInput{
		TableName: aws.String(table),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{
			AttributeName: was.TimeToLiveDescription.AttributeName, Enabled: aws.Bool(false),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Client returns a client for the emulator that sends its requests through rt.
func Client(rt http.RoundTripper, options ...func(*dynamodb.Options)) *dynamodb.Client {
	return dynamodb.NewFromConfig(Config(rt), options...)
}

// Config is for clients of other services that the emulator has.
func Config(rt http.RoundTripper) aws.Config {
	return aws.Config{
		BaseEndpoint: aws.String(endpoint()),
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("test", "test", ""),
		HTTPClient:   &http.Client{Transport: rt},
	}
}

// Transport returns a transport that sends a request's body from one buffer. The emulator may answer before the SDK's
// own body has been read to its end; then the answer is lost, and the SDK repeats a request that was done. It keeps its
// connections until the end of the test, since a test sends many requests at once.
func Transport(t testing.TB) http.RoundTripper {
	next := &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(next.CloseIdleConnections)
	return buffering{next}
}

type buffering struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b buffering) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		return b.next.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if err := r.Body.Close(); err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.ContentLength = int64(len(body))
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	return b.next.RoundTrip(r)
}

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	signer "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
)

// cloud is what the file of a deployment says, and the services there.
type cloud struct {
	Endpoint, Region, Stack, Callback, URL, Owner, Token string
	Outputs                                              struct{ Table, ExpiryMachine, CallbackMachine, StreamMapping string }

	functions *lambda.Client
	plain     *http.Client
}

func connect(file string) (*cloud, error) {
	text, err := os.ReadFile(file) //nolint:gosec // as asked
	if err != nil {
		return nil, err
	}
	c := &cloud{plain: newClient()}
	if err := json.Unmarshal(text, c); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	c.functions = lambda.NewFromConfig(aws.Config{Region: c.Region, BaseEndpoint: &c.Endpoint, Credentials: c.credentials()})
	return c, nil
}

func (c *cloud) credentials() aws.CredentialsProvider {
	return credentials.NewStaticCredentialsProvider("test", "test", "")
}

// service is one that takes JSON. The SDK's clients would take the records of a stream apart, which here go to the outbox
// letter by letter as they come.
type service struct{ name, prefix, content string }

func states() service { return service{"states", "AWSStepFunctions", "application/x-amz-json-1.0"} }
func dynamodb() service {
	return service{"dynamodb", "DynamoDB_20120810", "application/x-amz-json-1.0"}
}
func streams() service {
	return service{"dynamodb", "DynamoDBStreams_20120810", "application/x-amz-json-1.0"}
}
func events() service { return service{"events", "AWSEvents", "application/x-amz-json-1.1"} }

// doc is a JSON object.
type doc = map[string]any

// refusal is the error that a service answers with.
type refusal struct {
	Code    string `json:"__type"`
	Message string `json:"message"`
}

// Error implements error.
func (r *refusal) Error() string { return r.Code + ": " + r.Message }

// refused says whether err is the refusal with this code.
func refused(err error, code string) bool {
	r, ok := errors.AsType[*refusal](err)
	return ok && strings.HasSuffix(r.Code, code)
}

// call makes a request of a service, and decodes the answer into out unless that is nil.
func (c *cloud) call(ctx context.Context, s service, action string, in doc, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("%s: %w", action, err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Endpoint, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%s: %w", action, err)
	}
	r.Header.Set("Content-Type", s.content)
	r.Header.Set("X-Amz-Target", s.prefix+"."+action)
	who, err := c.credentials().Retrieve(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", action, err)
	}
	hash := sha256.Sum256(body)
	if err := signer.NewSigner().SignHTTP(ctx, who, r, hex.EncodeToString(hash[:]), s.name, c.Region, time.Now()); err != nil {
		return fmt.Errorf("%s: %w", action, err)
	}
	status, answer, err := send(c.plain, r)
	if err == nil && status != http.StatusOK {
		var said refusal
		if err = json.Unmarshal(answer, &said); err == nil {
			err = &said
		}
	}
	if err == nil && out != nil {
		err = json.Unmarshal(answer, out)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", action, err)
	}
	return nil
}

// send makes a request and returns the answer whole.
func send(by *http.Client, r *http.Request) (status int, body []byte, _ error) {
	answer, err := by.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	body, err = io.ReadAll(answer.Body)
	return answer.StatusCode, body, err
}

// invoke calls one of the stack's functions and decodes what it answers into out.
func (c *cloud) invoke(ctx context.Context, function string, event []byte, out any) error {
	said, err := c.functions.Invoke(ctx, &lambda.InvokeInput{FunctionName: c.function(function), Payload: event})
	if err != nil {
		return fmt.Errorf("invoke %s: %w", function, err)
	}
	if said.FunctionError != nil {
		return fmt.Errorf("%s failed: %s", function, said.Payload)
	}
	if err := json.Unmarshal(said.Payload, out); err != nil {
		return fmt.Errorf("%s answered %s: %w", function, said.Payload, err)
	}
	return nil
}

func (c *cloud) function(name string) *string { return aws.String(c.Stack + "-" + name) }

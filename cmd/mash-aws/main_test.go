package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/dynamostore/dynamotest"
	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/record"
)

// TestMain lets a test run this very binary as mash-aws, for what only a process of its own shows.
func TestMain(m *testing.M) {
	if os.Getenv("MASH_AWS_ITSELF") != "" {
		main()
	}
	os.Exit(dynamotest.Main(m))
}

// emulated is the configuration of the emulator, and a function that runs the program over it.
type emulated struct {
	t      *testing.T
	config aws.Config
}

func newEmulated(t *testing.T) *emulated {
	return &emulated{t, dynamotest.Config(dynamotest.Transport(t))}
}

// ran is what came of a run.
type ran struct {
	code           int
	stdout, stderr string
}

func (e *emulated) run(args ...string) ran {
	e.t.Helper()
	var stdout, stderr bytes.Buffer
	p := &program{stdout: &stdout, stderr: &stderr, load: func(context.Context) (aws.Config, error) { return e.config, nil }}
	code := p.run(e.t.Context(), args)
	return ran{code, stdout.String(), stderr.String()}
}

// must is run that succeeds, and returns the one line of its output.
func (e *emulated) must(args ...string) string {
	e.t.Helper()
	r := e.run(args...)
	if r.code != exitOK || strings.Count(r.stdout, "\n") != 1 {
		e.t.Fatalf("%v = %+v, want a line", args, r)
	}
	return strings.TrimSpace(r.stdout)
}

// stack makes a stack with such outputs; it needs a resource, which is cheap.
func (e *emulated) stack(outputs map[string]string) string {
	e.t.Helper()
	var text strings.Builder
	for name, value := range outputs {
		fmt.Fprintf(&text, "  %s: {Value: %q}\n", name, value)
	}
	name := "mash-" + record.NewRev()
	client := cloudformation.NewFromConfig(e.config)
	_, err := client.CreateStack(e.t.Context(), &cloudformation.CreateStackInput{StackName: aws.String(name), TemplateBody: aws.String(
		"Resources:\n  Topic: {Type: AWS::SNS::Topic}\nOutputs:\n" + text.String())})
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() {
		_, err := client.DeleteStack(context.WithoutCancel(e.t.Context()), &cloudformation.DeleteStackInput{StackName: aws.String(name)})
		if err != nil {
			e.t.Error(err)
		}
	})
	return name
}

// deploy makes what a deployment has that this program needs.
func (e *emulated) deploy() (stack string, c awshub.Config) {
	e.t.Helper()
	key, err := kms.NewFromConfig(e.config).CreateKey(e.t.Context(), &kms.CreateKeyInput{})
	if err != nil {
		e.t.Fatal(err)
	}
	c = awshub.Config{
		AWS: e.config, BaseURL: "https://hub.example", Key: aws.ToString(key.KeyMetadata.Arn),
		Table: dynamotest.Table(e.t, dynamotest.Client(e.config.HTTPClient.(*http.Client).Transport)),
	}
	return e.stack(map[string]string{"Table": c.Table, "HubKey": c.Key, "Url": c.BaseURL + "/"}), c
}

func TestBootstrapMakesAnOwnerOnce(t *testing.T) {
	t.Parallel()
	e := newEmulated(t)
	stack, config := e.deploy()
	if r := e.run("token", "--stack", stack); r.code != exitError || !strings.Contains(r.stderr, "mash-aws bootstrap --stack "+stack) {
		t.Errorf("token before bootstrap = %+v", r)
	}
	for _, name := range []string{"agent:alice", "human:human:alice", "alice smith", "alice\n", strings.Repeat("a", 201)} {
		if r := e.run("bootstrap", "--stack", stack, "--owner", name); r.code != exitError || r.stdout != "" {
			t.Errorf("bootstrap of %q = %+v, want a refusal", name, r)
		}
	}
	links := map[string]bool{}
	for _, args := range [][]string{{"--owner", "human:alice"}, {}, {"--owner=alice"}} {
		link := e.must(append([]string{"bootstrap", "--stack", stack}, args...)...)
		if !strings.HasPrefix(link, "https://hub.example/in/mashp_") || links[link] {
			t.Errorf("bootstrap %v = %s", args, link)
		}
		links[link] = true
	}
	if r := e.run("bootstrap", "--stack", stack, "--owner", "bob"); r.code != exitError || !strings.Contains(r.stderr, "human:alice") {
		t.Errorf("bootstrap of another owner = %+v", r)
	}
	h, err := config.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if owner, err := h.Owner(t.Context()); err != nil || owner.Account.Owner != "human:alice" {
		t.Errorf("the owner is %+v, %v", owner, err)
	}
}

func TestAPersonReadsWhereTheHubIs(t *testing.T) {
	t.Parallel()
	e := newEmulated(t)
	stack, _ := e.deploy()
	for _, command := range []string{"bootstrap", "token"} {
		if r := e.run(command, "--stack", stack); !strings.Contains(r.stderr, "export MASH_URL=https://hub.example\n") {
			t.Errorf("%s = %+v, want the hub's URL beside it", command, r)
		}
	}
}

func TestAccountIsThatOfTheCredentials(t *testing.T) {
	t.Parallel()
	if got := newEmulated(t).must("account"); got != "000000000000/us-east-1" {
		t.Errorf("account = %s", got)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"version", "--version"} {
		if got := newEmulated(t).must(args); !strings.HasPrefix(got, "mash-aws ") || !strings.Contains(got, ", go1.") {
			t.Errorf("%s = %s", args, got)
		}
	}
}

func TestATokenIsTheOwners(t *testing.T) {
	t.Parallel()
	e := newEmulated(t)
	stack, config := e.deploy()
	e.must("bootstrap", "--stack", stack)
	token := e.must("token", "--stack", stack)
	me, err := config.Endpoint(t.Context(), endpoint.Me)
	if err != nil {
		t.Fatal(err)
	}
	got := get(t, me, "/v1/me", token)
	if !strings.Contains(got, `"human:owner"`) {
		t.Errorf("GET /v1/me = %s, want that of human:owner", got)
	}
}

func TestWhatStandsInTheWayIsSaidPlainly(t *testing.T) {
	t.Parallel()
	e := newEmulated(t)
	bare := e.stack(map[string]string{"Table": "mash"})
	for name, c := range map[string]struct {
		change func(*aws.Config)
		args   []string
		code   int
		says   []string
	}{
		"no command":        {code: exitUsage, says: []string{"Usage:"}},
		"another command":   {args: []string{"deploy"}, code: exitUsage, says: []string{`no command "deploy"`}},
		"no stack":          {args: []string{"token"}, code: exitUsage, says: []string{"--stack", "mash-aws token --help"}},
		"another flag":      {args: []string{"token", "--owner", "x"}, code: exitUsage, says: []string{"-owner"}},
		"a word too many":   {args: []string{"token", "Mash"}, code: exitUsage, says: []string{`"Mash"`}},
		"help of nothing":   {args: []string{"help", "deploy"}, code: exitUsage, says: []string{`no command "deploy"`, "See mash-aws --help."}},
		"help of too much":  {args: []string{"help", "token", "me"}, code: exitUsage, says: []string{`"me" is one word too many`}},
		"a flag for none":   {args: []string{"account", "--stack", "Mash"}, code: exitUsage, says: []string{"-stack", "mash-aws account --help"}},
		"an unknown stack":  {args: []string{"token", "--stack", "Nowhere"}, code: exitError, says: []string{"no stack Nowhere in 000000000000/us-east-1"}},
		"another stack":     {args: []string{"token", "--stack", bare}, code: exitError, says: []string{bare, "HubKey, Url"}},
		"no region":         {args: []string{"token", "--stack", "S"}, code: exitError, says: []string{"AWS_REGION"}, change: func(c *aws.Config) { c.Region = "" }},
		"no credentials":    {args: []string{"token", "--stack", "S"}, code: exitError, says: []string{"AWS_PROFILE"}, change: func(c *aws.Config) { c.Credentials = none{} }},
		"none whatever":     {args: []string{"token", "--stack", "S"}, code: exitError, says: []string{"AWS_PROFILE"}, change: func(c *aws.Config) { c.Credentials = nil }},
		"too little rights": {args: []string{"token", "--stack", "S"}, code: exitError, says: []string{"not allowed CloudFormation DescribeStacks", "because"}, change: denied},
		"nor for that":      {args: []string{"account"}, code: exitError, says: []string{"not allowed STS GetCallerIdentity", "because"}, change: denied},
		"no account":        {args: []string{"account"}, code: exitError, says: []string{"AWS_PROFILE"}, change: func(c *aws.Config) { c.Credentials = none{} }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEmulated(t)
			if c.change != nil {
				c.change(&e.config)
			}
			got := e.run(c.args...)
			if got.code != c.code || got.stdout != "" {
				t.Errorf("%v = %+v, want %d", c.args, got, c.code)
			}
			for _, s := range c.says {
				if !strings.Contains(got.stderr, s) {
					t.Errorf("%v says %q, want %q in it", c.args, got.stderr, s)
				}
			}
			if c.code == exitError && (strings.Count(got.stderr, "\n") != 1 || strings.Contains(got.stderr, "RequestID")) {
				t.Errorf("%v says %q, want a sentence", c.args, got.stderr)
			}
		})
	}
}

// none has no credentials.
type none struct{}

func (none) Retrieve(context.Context) (aws.Credentials, error) {
	return aws.Credentials{}, errors.New("nothing there")
}

// denied stands for AWS when it does not allow what is asked.
func denied(c *aws.Config) {
	c.Credentials = credentials.NewStaticCredentialsProvider("some", "body", "")
	c.HTTPClient = &http.Client{Transport: answers{http.StatusForbidden,
		"<ErrorResponse><Error><Code>AccessDenied</Code><Message>because</Message></Error></ErrorResponse>"}}
}

func TestHelpFits(t *testing.T) {
	t.Parallel()
	e := newEmulated(t)
	for args, flags := range map[string][]string{
		"--help": nil, "help": nil, "bootstrap --help": {"--owner", "--stack"}, "token --help": {"--stack"}, "token -h": {"--stack"},
		"help bootstrap": {"--owner", "--stack"}, "help token": {"--stack"}, "help account": nil, "account --help": nil,
		"help version": nil, "version -h": nil, "help help": nil,
	} {
		got := e.run(strings.Fields(args)...)
		if got.code != exitOK || got.stderr != "" || !strings.Contains(got.stdout, "Usage: mash-aws") {
			t.Errorf("%s = %+v", args, got)
		}
		for line := range strings.Lines(got.stdout) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("%s has a line of %d columns: %s", args, n, line)
			}
		}
		described := map[string]bool{}
		for _, m := range regexp.MustCompile(`(?m)^ +(--[a-z-]+)`).FindAllStringSubmatch(got.stdout, -1) {
			described[m[1]] = true
		}
		if len(described) != len(flags) {
			t.Errorf("%s describes %v, want %v", args, described, flags)
		}
	}
}

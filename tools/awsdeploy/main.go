// Command awsdeploy puts a stack of a built CDK app on whatever speaks AWS at an endpoint, without the CDK's command: it
// runs the app, uploads its assets, creates or updates the stack, makes the hub's owner, and writes what a test must know
// of it to a file, and what a person wants to know of it to standard output. It builds nothing.
//
//	awsdeploy -app bin/infra -mash-aws bin/mash-aws -endpoint http://127.0.0.1:4566 -out .tools/aws-stack.json
//
// It takes credentials and region from the environment, and any will do for an emulator.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

// deployment is what to deploy, and where.
type deployment struct {
	App      string // the CDK app's program
	Folder   string // where its assets' paths begin
	MashAWS  string // the operator's program
	Endpoint string
	Region   string
	Stack    string
	Callback string // host:port to which the hub may push
}

// Stack is what the file says of a deployed stack: all that a test gets.
type Stack struct {
	Endpoint string            `json:"endpoint"` // of AWS
	Region   string            `json:"region"`
	Stack    string            `json:"stack"`
	Callback string            `json:"callback"` // host:port to which the hub may push
	URL      string            `json:"url"`      // of the hub
	Owner    string            `json:"owner"`    // human:<id>
	Token    string            `json:"token"`    // the owner's
	Outputs  map[string]string `json:"outputs"`  // of the stack, by name
}

// owner is the id of the hub's owner.
const owner = "owner"

func main() {
	log.SetFlags(0)
	log.SetPrefix("awsdeploy: ")
	var d deployment
	flag.StringVar(&d.App, "app", "bin/infra", "the `program` of the CDK app")
	flag.StringVar(&d.Folder, "folder", "infra", "the `folder` in which the app runs")
	flag.StringVar(&d.MashAWS, "mash-aws", "bin/mash-aws", "the `program` that makes the owner")
	flag.StringVar(&d.Endpoint, "endpoint", "", "the `URL` at which AWS answers")
	flag.StringVar(&d.Stack, "stack", "MashTest", "the `name` of the stack")
	flag.StringVar(&d.Callback, "callback", "", "the `host:port` to which the hub may push; else that of before, or a free port")
	out := flag.String("out", ".tools/aws-stack.json", "the `file` to write")
	flag.Parse()
	d.Region = os.Getenv("AWS_REGION")
	if d.Callback == "" {
		d.Callback = callbackOf(*out)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, d, *out); err != nil {
		log.Fatal(err) //nolint:gocritic // nothing is left to clean up
	}
}

func run(ctx context.Context, d deployment, out string) error {
	if d.Endpoint == "" || d.Region == "" {
		return fmt.Errorf("needs -endpoint and AWS_REGION")
	}
	assembly, err := os.MkdirTemp("", "awsdeploy")
	if err != nil {
		return err
	}
	defer os.RemoveAll(assembly) //nolint:errcheck // what is left lies among the temporary files
	began := time.Now()
	s, err := d.synthesise(ctx, assembly)
	if err != nil {
		return err
	}
	took := func(what string) {
		log.Printf("%s in %.1f s", what, time.Since(began).Seconds())
		began = time.Now()
	}
	took("synthesised")
	c := d.connect()
	if err := c.upload(ctx, s); err != nil {
		return err
	}
	took(fmt.Sprintf("uploaded %d assets", len(s.Assets)))
	outputs, err := c.deploy(ctx, d.Stack, s)
	if err != nil {
		return err
	}
	took("deployed " + d.Stack)
	made, link, err := d.describe(ctx, outputs)
	if err != nil {
		return err
	}
	took("made a link and a token of its owner")
	if err := write(out, made); err != nil {
		return err
	}
	fmt.Printf("The hub is at %[1]s\n\n"+
		"Your inbox. The link signs %[2]s in, once, within a day:\n  %[3]s\n\n"+
		"For the mash command, as %[2]s:\n\nexport MASH_URL=%[1]s\nexport MASH_TOKEN=%[4]s\n",
		made.URL, made.Owner, link, made.Token)
	return nil
}

// callbackOf returns the address for callbacks of the deployment before, so that nothing changes, or a free one.
func callbackOf(file string) string {
	var before Stack
	if text, err := os.ReadFile(file); err == nil && json.Unmarshal(text, &before) == nil && before.Callback != "" { //nolint:gosec // G304: the caller's
		return before.Callback
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // nothing was written
	return l.Addr().String()
}

// describe makes the owner and says what there is, with a link that signs the owner in.
func (d deployment) describe(ctx context.Context, outputs map[string]string) (_ *Stack, link string, err error) {
	s := &Stack{
		Endpoint: d.Endpoint, Region: d.Region, Stack: d.Stack, Callback: d.Callback,
		URL: outputs["Url"], Owner: "human:" + owner, Outputs: outputs,
	}
	if link, err = d.operate(ctx, "bootstrap", "--stack", d.Stack, "--owner", owner); err != nil {
		return nil, "", err
	}
	if s.Token, err = d.operate(ctx, "token", "--stack", d.Stack); err != nil {
		return nil, "", err
	}
	return s, link, nil
}

// operate runs mash-aws and returns what it prints.
func (d deployment) operate(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, d.MashAWS, args...) //nolint:gosec // G204: the caller names the program
	cmd.Env = append(os.Environ(), "AWS_ENDPOINT_URL="+d.Endpoint)
	out, err := cmd.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok { // else what it says there is for a person who runs it
		err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(failed.Stderr)))
	}
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", d.MashAWS, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// write puts the file in place at once, readable by nobody else: it holds a token.
func write(file string, s *Stack) error {
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	half := filepath.Join(filepath.Dir(file), "."+filepath.Base(file))
	if err := os.WriteFile(half, append(b, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(half, file)
}

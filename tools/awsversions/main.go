// Command awsversions runs a deployed hub with functions of two versions on one table, as it stands in the middle of a
// deployment or of its taking back: in turns some of the functions, the others and all of them are those of before. With
// each mixture it runs a command, and at the end puts every function back.
//
//	awsversions -stack .tools/aws-stack.json -before FOLDER -now FOLDER COMMAND...
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("awsversions: ")
	file := flag.String("stack", ".tools/aws-stack.json", "the `file` that says what is deployed")
	before := flag.String("before", "", "the `folder` of zips of the version before")
	now := flag.String("now", "", "the `folder` of zips of this version")
	flag.Parse()
	if *before == "" || *now == "" || flag.NArg() == 0 {
		log.Fatal("usage: awsversions -before FOLDER -now FOLDER COMMAND...")
	}
	d, err := read(*file)
	if err != nil {
		log.Fatal(err)
	}
	if err := d.mix(context.Background(), *before, *now, flag.Args()); err != nil {
		log.Fatal(err)
	}
}

// deployed is what the file of a deployment says, as far as it is needed here.
type deployed struct {
	Endpoint, Region, Stack string

	functions *lambda.Client
}

func read(file string) (*deployed, error) {
	text, err := os.ReadFile(file) //nolint:gosec // as asked
	if err != nil {
		return nil, err
	}
	var d deployed
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, err
	}
	d.functions = lambda.NewFromConfig(aws.Config{
		Region: d.Region, BaseEndpoint: &d.Endpoint, Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
	})
	return &d, nil
}

// mixture says which functions are those of before.
type mixture struct {
	name  string
	older func(function string) bool
}

// agents are the functions that agents call; the others are people's, the pages and the workers.
func agents() []string {
	return []string{"submit", "pull", "cancel", "ack", "me", "discovery", "session-add", "session-close", "drain", "inbox-ack", "stream"}
}

func mixtures() []mixture {
	ofAgents := func(function string) bool { return slices.Contains(agents(), function) }
	return []mixture{
		{"agents meet the version before, people this one", ofAgents},
		{"people and workers meet the version before, agents this one", func(f string) bool { return !ofAgents(f) }},
		{"everything is of the version before", func(string) bool { return true }},
		{"everything is of this version again", func(string) bool { return false }},
	}
}

// mix runs the command once with each mixture. The last of them is this version alone, whatever failed before it.
func (d *deployed) mix(ctx context.Context, before, now string, command []string) error {
	names, err := common(before, now)
	if err != nil {
		return err
	}
	var failed []error
	for _, m := range mixtures() {
		for _, name := range names {
			folder := now
			if m.older(name) {
				folder = before
			}
			if err := d.put(ctx, name, filepath.Join(folder, name+".zip")); err != nil {
				return err
			}
		}
		began := time.Now()
		if err := run(ctx, command); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", m.name, err))
			continue
		}
		fmt.Printf("ok    %s, %.1f s\n", m.name, time.Since(began).Seconds())
	}
	return errors.Join(failed...)
}

// common returns the functions that both versions have.
func common(before, now string) ([]string, error) {
	zips, err := filepath.Glob(filepath.Join(now, "*.zip"))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, z := range zips {
		if _, err := os.Stat(filepath.Join(before, filepath.Base(z))); err == nil {
			names = append(names, strings.TrimSuffix(filepath.Base(z), ".zip"))
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s and %s have no function in common", before, now)
	}
	return names, nil
}

// put gives a function other code.
func (d *deployed) put(ctx context.Context, name, zip string) error {
	code, err := os.ReadFile(zip) //nolint:gosec // as asked
	if err != nil {
		return err
	}
	_, err = d.functions.UpdateFunctionCode(ctx, &lambda.UpdateFunctionCodeInput{
		FunctionName: aws.String(d.Stack + "-" + name), ZipFile: code,
	})
	if err != nil {
		return fmt.Errorf("give %s its code: %w", name, err)
	}
	return nil
}

func run(ctx context.Context, command []string) error {
	c := exec.CommandContext(ctx, command[0], command[1:]...) //nolint:gosec // as asked
	said, err := c.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, said)
	}
	return nil
}

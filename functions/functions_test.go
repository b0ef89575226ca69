// Package functions_test holds the folders here to the table of endpoints: one function per row, and the others.
package functions_test

import (
	"flag"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/endpoint"
)

//go:generate go test -run ^TestOneFunctionPerEndpoint$ . -update
var update = flag.Bool("update", false, "write the functions of endpoints that are missing or differ")

const source = `// Command %[1]s is the Lambda function of the endpoint %[1]s: %[2]s.
package main

import (
	"context"

	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/lambdahttp"
)

func main() { lambdahttp.%[3]s(awshub.FromEnv().Endpoint(context.Background(), %[1]q)) }
`

// listening makes the source of a function into that of one that waits for mail.
var listening = strings.NewReplacer(
	"pkg/lambdahttp\"\n", "pkg/lambdahttp\"\n\t\"github.com/mash-hub/mash/pkg/sqsbell\"\n",
	"FromEnv()", "FromEnv().Listening(sqsbell.Open)",
)

func TestOneFunctionPerEndpoint(t *testing.T) {
	t.Parallel()
	var want []string
	for _, w := range endpoint.Workers() { // whose files are of their own making
		want = append(want, string(w.Name))
	}
	for _, e := range endpoint.All() {
		want = append(want, string(e.Name))
		file := filepath.Join(string(e.Name), "main.go")
		start := "Start"
		if e.Streamed {
			start = "StartStream"
		}
		text := fmt.Sprintf(source, e.Name, e.Pattern(), start)
		if e.Access.Listens {
			text = listening.Replace(text)
		}
		formatted, err := format.Source([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		text = string(formatted)
		if *update {
			write(t, file, text)
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("the endpoint %s has no function: %v; run go generate ./functions", e.Name, err)
		} else if diff := cmp.Diff(text, string(got)); diff != "" {
			t.Errorf("%s differs; run go generate ./functions (-want +got)\n%s", file, diff)
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, folders(t)); diff != "" {
		t.Errorf("folders (-want +got)\n%s", diff)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// folders returns the names of the folders here, in order.
func folders(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

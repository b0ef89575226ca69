// Command lambdainit starts each function of a folder of zips as Lambda would, with a runtime API of its own on this
// machine, and prints the size of each zip and how long the function takes until it asks for its first event. It fails on
// one that is too large or too slow.
//
//	lambdainit -stack .tools/aws-stack.json bin/functions/amd64
package main

import (
	"archive/zip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// limits is what a function may take.
type limits struct {
	zip  int64
	init time.Duration // the median of the starts
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("lambdainit: ")
	file := flag.String("stack", ".tools/aws-stack.json", "the `file` that says what is deployed")
	starts := flag.Int("starts", 11, "how often each function is started")
	var most limits
	flag.Int64Var(&most.zip, "zip", 6_000_000, "most bytes of a zip")
	flag.DurationVar(&most.init, "init", 50*time.Millisecond, "longest median `time` of a start")
	flag.Parse()
	if flag.NArg() != 1 {
		log.Fatal("usage: lambdainit [-stack FILE] FOLDER")
	}
	environment, err := environmentOf(*file)
	if err != nil {
		log.Fatal(err)
	}
	if err := table(flag.Arg(0), environment, *starts, most); err != nil {
		log.Fatal(err)
	}
}

// environmentOf returns the environment of a function of a deployed stack.
func environmentOf(file string) ([]string, error) {
	text, err := os.ReadFile(file) //nolint:gosec // as asked
	if err != nil {
		return nil, err
	}
	var d struct {
		Endpoint, Region, Stack, URL string
		Outputs                      map[string]string
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, err
	}
	return []string{
		"AWS_ENDPOINT_URL=" + d.Endpoint, "AWS_REGION=" + d.Region,
		"AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test",
		"MASH_STACK=" + d.Stack, "MASH_QUEUES=https://sqs.example/1/" + d.Stack + "-", "MASH_BASE_URL=" + d.URL, "MASH_TABLE=" + d.Outputs["Table"],
		"MASH_KMS_KEY=" + d.Outputs["HubKey"], "MASH_EXPIRY_MACHINE=" + d.Outputs["ExpiryMachine"],
		"MASH_CALLBACK_MACHINE=" + d.Outputs["CallbackMachine"],
	}, nil
}

// table prints a line for each function, as Markdown.
func table(folder string, environment []string, starts int, most limits) error {
	zips, err := filepath.Glob(filepath.Join(folder, "*.zip"))
	if err != nil || len(zips) == 0 {
		return fmt.Errorf("there are no zips in %s", folder)
	}
	fmt.Printf("| function | zip, MB | init p50, ms | init longest, ms |\n|---|---|---|---|\n")
	var wrong []string
	for _, z := range zips {
		name := strings.TrimSuffix(filepath.Base(z), ".zip")
		size, took, err := measure(z, environment, starts)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		p50 := took[len(took)/2]
		fmt.Printf("| %s | %.1f | %.0f | %.0f |\n", name, float64(size)/1e6, ms(p50), ms(took[len(took)-1]))
		if size > most.zip || p50 > most.init {
			wrong = append(wrong, name)
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("more than %.1f MB or %s: %s", float64(most.zip)/1e6, most.init, strings.Join(wrong, ", "))
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// measure returns the size of a zip and how long its starts took, in order.
func measure(file string, environment []string, starts int) (int64, []time.Duration, error) {
	info, err := os.Stat(file)
	if err != nil {
		return 0, nil, err
	}
	folder, err := os.MkdirTemp("", "lambdainit")
	if err != nil {
		return 0, nil, err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // a temporary folder
	bootstrap := filepath.Join(folder, "bootstrap")
	if err := unpack(file, bootstrap); err != nil {
		return 0, nil, err
	}
	var took []time.Duration
	for range starts {
		t, err := start(bootstrap, environment)
		if err != nil {
			return 0, nil, err
		}
		took = append(took, t)
	}
	slices.Sort(took)
	return info.Size(), took, nil
}

// unpack writes the program in a zip to a file.
func unpack(file, to string) error {
	z, err := zip.OpenReader(file)
	if err != nil {
		return err
	}
	defer z.Close() //nolint:errcheck // it was only read
	program, err := z.Open("bootstrap")
	if err != nil {
		return err
	}
	defer program.Close()                                                  //nolint:errcheck // it was only read
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o700) //nolint:gosec // a program
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, program); err != nil {
		return err
	}
	return out.Close()
}

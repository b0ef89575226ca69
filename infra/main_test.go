package main

import (
	"archive/zip"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/aws/jsii-runtime-go"

	"github.com/mash-hub/mash/pkg/endpoint"
)

//go:generate go test -run ^TestTemplate$ . -update
var update = flag.Bool("update", false, "write the templates under testdata anew")

// templates names a folder for the templates as they are, for tools that look at them.
var templates = flag.String("templates", "", "write the templates of both stages into this `folder`")

// TestMain leaves everything out where there is no Node, in which the CDK runs, unless MASH_REQUIRE_ALL is 1.
func TestMain(m *testing.M) {
	flag.Parse()
	if _, err := exec.LookPath("node"); err != nil {
		fmt.Println("left out: node is not there, in which the CDK runs")
		if os.Getenv("MASH_REQUIRE_ALL") == "1" {
			os.Exit(1)
		}
		os.Exit(0)
	}
	if err := os.Setenv("CDK_VALIDATION", "false"); err != nil { // it would run everything twice; cfn-lint looks at more
		panic(err)
	}
	status := m.Run()
	jsii.Close()
	if err := os.RemoveAll(folder()); err != nil {
		fmt.Println(err)
	}
	os.Exit(status)
}

// doc is a JSON object.
type doc = map[string]any

// synthesis is what the app makes of a stage.
type synthesis struct {
	Stage    Stage
	Folder   string
	Template template
}

// template is the part of a CloudFormation template that is looked at.
type template struct {
	Resources map[string]resource
	Outputs   map[string]struct{ Value any }
	whole     doc
}

type resource struct {
	Type                string
	Properties          doc
	DeletionPolicy      string
	UpdateReplacePolicy string
	Metadata            doc
}

// The stages of the tests, each made once: the CDK takes seconds, and works for one at a time.
var (
	production = sync.OnceValues(func() (*synthesis, error) { return synthesise(fixed(Production())) })
	test       = sync.OnceValues(func() (*synthesis, error) {
		return synthesise(fixed(Test(Emulator{Port: "4566", Callback: "127.0.0.1:8080"})))
	})
	everything = sync.OnceValues(func() (*synthesis, error) {
		s := fixed(Production())
		s.Stack = "Whole"
		s.Domain = &Domain{Name: "mash.example.com", Certificate: "arn:aws:acm:us-east-1:123456789012:certificate/a"}
		s.Base = "/tools/mash"
		s.AlarmTopic = "arn:aws:sns:us-east-1:123456789012:alarms"
		s.WaitingPulls, s.WaitingDrains, s.HeldStreams = 0, 0, 0
		return synthesise(s)
	})
	oneAtATime sync.Mutex

	// folder is that of everything that the tests write.
	folder = sync.OnceValue(func() string {
		dir, err := os.MkdirTemp("", "mash-infra-")
		if err != nil {
			panic(err)
		}
		return dir
	})
)

// fixed is a stage whose functions are the same on every machine.
func fixed(s Stage) Stage {
	s.Functions = ""
	if s.Emulator != nil {
		s.Architecture = archAMD
	}
	return s
}

func made(t *testing.T, of func() (*synthesis, error)) *synthesis {
	t.Helper()
	s, err := of()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// each runs a test for both stages.
func each(t *testing.T, f func(*testing.T, *synthesis)) {
	t.Helper()
	t.Parallel()
	for name, of := range map[string]func() (*synthesis, error){"production": production, "test": test} {
		t.Run(name, func(t *testing.T) { f(t, made(t, of)) })
	}
}

func synthesise(s Stage) (*synthesis, error) {
	oneAtATime.Lock()
	defer oneAtATime.Unlock()
	out := filepath.Join(folder(), s.Stack)
	if s.Functions == "" {
		s.Functions = filepath.Join(folder(), s.Stack+"-functions")
		if err := packFunctions(s.Functions); err != nil {
			return nil, err
		}
	}
	app := newApp(jsii.String(out))
	if _, err := newStack(app, s); err != nil {
		return nil, err
	}
	app.Synth(nil)
	made := &synthesis{Stage: s, Folder: out}
	text, err := os.ReadFile(filepath.Join(out, s.Stack+".template.json"))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &made.Template); err != nil {
		return nil, err
	}
	return made, json.Unmarshal(text, &made.Template.whole)
}

// packFunctions writes a zip for each function, in which there is nothing but its name.
func packFunctions(folder string) error {
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	for _, name := range functionNames() {
		file, err := os.Create(filepath.Join(folder, string(name)+".zip"))
		if err != nil {
			return err
		}
		z := zip.NewWriter(file)
		w, err := z.Create("bootstrap")
		if err == nil {
			_, err = fmt.Fprint(w, name)
		}
		if err == nil {
			err = z.Close()
		}
		if err == nil {
			err = file.Close()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// of returns the resources of a type by their logical ids.
func (t template) of(kind string) map[string]resource {
	found := map[string]resource{}
	for id, r := range t.Resources {
		if r.Type == kind {
			found[id] = r
		}
	}
	return found
}

// one returns the only resource of a type.
func (t template) one(test *testing.T, kind string) (id string, r resource) {
	test.Helper()
	all := t.of(kind)
	if len(all) != 1 {
		test.Fatalf("%d resources of type %s, want 1", len(all), kind)
	}
	for id, r = range all {
	}
	return id, r
}

// function returns the function of a name.
func (s *synthesis) function(t *testing.T, name endpoint.Name) (id string, r resource) {
	t.Helper()
	for id, r := range s.Template.of("AWS::Lambda::Function") {
		if r.Properties["FunctionName"] == s.Stage.Stack+"-"+string(name) {
			return id, r
		}
	}
	t.Fatalf("no function %s", name)
	return "", resource{}
}

// refers says which resource a value refers to, by Ref or Fn::GetAtt; nothing if to none.
func refers(value any) string {
	d, _ := value.(doc)
	if id, ok := d["Ref"].(string); ok {
		return id
	}
	if at, ok := d["Fn::GetAtt"].([]any); ok && len(at) == 2 {
		return fmt.Sprint(at[0])
	}
	return ""
}

// at returns what lies under a path of members and places in what JSON decodes to; nil where nothing does.
func at(value any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			d, _ := value.(doc)
			value = d[step]
		case int:
			list, _ := value.([]any)
			if step >= len(list) {
				return nil
			}
			value = list[step]
		}
	}
	return value
}

// text writes a value as JSON.
func text(value any) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err)
	}
	return strings.TrimSpace(b.String())
}

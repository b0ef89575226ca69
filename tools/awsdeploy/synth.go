package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// account is the one that emulators have.
const account = "000000000000"

// synthesis is what the CDK app made of a stack.
type synthesis struct {
	Template asset
	Assets   []asset // the template among them
}

// asset is a file for a bucket.
type asset struct{ File, Bucket, Key string }

// synthesise runs the app into a folder and reads what it made.
func (d deployment) synthesise(ctx context.Context, folder string) (*synthesis, error) {
	endpoint, err := url.Parse(d.Endpoint)
	if err != nil {
		return nil, err
	}
	app, err := filepath.Abs(d.App)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, app) //nolint:gosec // G204: the caller names the program
	cmd.Dir = d.Folder
	cmd.Env = append(os.Environ(),
		"CDK_OUTDIR="+folder,
		"CDK_VALIDATION=false", // its second run of the app would take as long as the first
		`CDK_CONTEXT_JSON={"stage":"test"}`, "stage=test",
		"CDK_DEFAULT_ACCOUNT="+account, "CDK_DEFAULT_REGION="+d.Region,
		"MASH_EMULATOR_PORT="+endpoint.Port(),
		"MASH_TEST_CALLBACK="+d.Callback,
		"JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION=20", "JSII_SILENCE_WARNING_UNTESTED_NODE_VERSION=1",
	)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("run the CDK app: %w\n%s", err, said.String())
	}
	return d.read(folder)
}

// read finds the template and the files of the stack in what the app wrote.
func (d deployment) read(folder string) (*synthesis, error) {
	var manifest struct {
		Files map[string]struct {
			Source       struct{ Path, Packaging string }
			Destinations map[string]struct{ BucketName, ObjectKey string }
		}
	}
	text, err := os.ReadFile(filepath.Join(folder, d.Stack+".assets.json")) //nolint:gosec // G304: our own folder
	if err != nil {
		return nil, fmt.Errorf("the app made no stack %s: %w", d.Stack, err)
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		return nil, fmt.Errorf("read %s.assets.json: %w", d.Stack, err)
	}
	known := strings.NewReplacer("${AWS::AccountId}", account, "${AWS::Region}", d.Region, "${AWS::Partition}", "aws")
	s := &synthesis{}
	for _, f := range manifest.Files {
		if f.Source.Packaging != "file" {
			return nil, fmt.Errorf("asset %s is a %s; only files are uploaded", f.Source.Path, f.Source.Packaging)
		}
		path := f.Source.Path
		if !filepath.IsAbs(path) {
			path = filepath.Join(folder, path)
		}
		for _, to := range f.Destinations {
			a := asset{File: path, Bucket: known.Replace(to.BucketName), Key: known.Replace(to.ObjectKey)}
			s.Assets = append(s.Assets, a)
			if filepath.Base(path) == d.Stack+".template.json" {
				s.Template = a
			}
		}
	}
	if s.Template.File == "" {
		return nil, fmt.Errorf("the app made no template of the stack %s", d.Stack)
	}
	return s, nil
}

// Command infra is the CDK app that puts Mash on AWS: one stack, whose routes and permissions are made from the table of
// pkg/endpoint. It writes a CloudFormation template; the CDK's own command deploys it, as `make deploy` does.
//
// The context value stage says which of the stages of stages.go it is, production unless told otherwise. Where the folder
// of a stage's functions is relative, it begins here. It needs Node, in which the CDK itself runs.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
)

func main() {
	architecture := flag.Bool("architecture", false, "print what architecture the stage's functions are for, and no more")
	flag.Parse()
	defer jsii.Close()
	app := newApp(nil)
	name, _ := app.Node().TryGetContext(jsii.String("stage")).(string)
	stage, err := stageNamed(name, os.Getenv)
	if err == nil && *architecture {
		fmt.Println(stage.Architecture)
		return
	}
	if err == nil {
		_, err = newStack(app, stage)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "infra:", err)
		os.Exit(1) //nolint:gocritic // nothing is written yet, and jsii ends with us
	}
	app.Synth(nil)
}

// newApp returns the app that a stack is put into; a nil outdir is where the CDK's own command wants it.
func newApp(outdir *string) awscdk.App {
	return awscdk.NewApp(&awscdk.AppProps{
		Outdir:             outdir,
		AnalyticsReporting: jsii.Bool(false), // a template that is the same everywhere, and tells nobody
		TreeMetadata:       jsii.Bool(false),
	})
}

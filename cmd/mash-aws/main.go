// Command mash-aws is what an operator of a hub on AWS needs besides mash: it makes a new deployment's keys and owner
// (bootstrap), and tokens of the owner (token). It stands apart so that mash links no AWS SDK.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/smithy-go/logging"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	p := &program{stdout: os.Stdout, stderr: os.Stderr, load: func(ctx context.Context) (aws.Config, error) {
		return config.LoadDefaultConfig(ctx, config.WithLogger(logging.Nop{})) // what is wrong is told in our words
	}}
	code := p.run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

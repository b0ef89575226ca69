// Command inbox is the Lambda function of the pages, and of every path at which there is nothing.
package main

import (
	"context"

	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/lambdahttp"
)

func main() { lambdahttp.Start(awshub.FromEnv().Inbox(context.Background())) }

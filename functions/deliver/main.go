// Command deliver is the Lambda function that makes one attempt at a callback. An execution calls it.
package main

import (
	"context"

	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/lambdahttp"
)

func main() { lambdahttp.StartEventWorker(awshub.FromEnv().Deliverer(context.Background())) }

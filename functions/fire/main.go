// Command fire is the Lambda function that ends a message at its deadline. An execution calls it.
package main

import (
	"context"

	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/lambdahttp"
)

func main() { lambdahttp.StartEventWorker(awshub.FromEnv().Firer(context.Background())) }

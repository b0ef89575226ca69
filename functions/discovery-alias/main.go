// Command discovery-alias is the Lambda function of the endpoint discovery-alias: GET /.well-known/ma2h-capability.
package main

import (
	"context"

	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/lambdahttp"
)

func main() { lambdahttp.Start(awshub.FromEnv().Endpoint(context.Background(), "discovery-alias")) }

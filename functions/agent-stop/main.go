// Command agent-stop is the Lambda function of the endpoint agent-stop: POST /v1/stops.
package main

import (
	"context"

	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/lambdahttp"
)

func main() { lambdahttp.Start(awshub.FromEnv().Endpoint(context.Background(), "agent-stop")) }

// Command agent-rotate is the Lambda function of the endpoint agent-rotate: POST /v1/agents/{agent}/rotate.
package main

import (
	"context"

	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/lambdahttp"
)

func main() { lambdahttp.Start(awshub.FromEnv().Endpoint(context.Background(), "agent-rotate")) }

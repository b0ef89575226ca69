// Command agent-read is the Lambda function of the endpoint agent-read: GET /v1/agent.
package main

import (
	"context"

	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/lambdahttp"
)

func main() { lambdahttp.Start(awshub.FromEnv().Endpoint(context.Background(), "agent-read")) }

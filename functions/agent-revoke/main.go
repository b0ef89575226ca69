// Command agent-revoke is the Lambda function of the endpoint agent-revoke: DELETE /v1/agents/{agent}.
package main

import (
	"context"

	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/lambdahttp"
)

func main() { lambdahttp.Start(awshub.FromEnv().Endpoint(context.Background(), "agent-revoke")) }

// Command send-again is the Lambda function of the endpoint send-again: POST /v1/waiting/{id}/send-again.
package main

import (
	"context"

	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/lambdahttp"
)

func main() { lambdahttp.Start(awshub.FromEnv().Endpoint(context.Background(), "send-again")) }

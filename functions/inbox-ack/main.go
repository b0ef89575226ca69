// Command inbox-ack is the Lambda function of the endpoint inbox-ack: POST /v1/inbox/ack.
package main

import (
	"context"

	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/lambdahttp"
)

func main() { lambdahttp.Start(awshub.FromEnv().Endpoint(context.Background(), "inbox-ack")) }

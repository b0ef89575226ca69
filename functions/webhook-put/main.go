// Command webhook-put is the Lambda function of the endpoint webhook-put: POST /v1/webhooks.
package main

import (
	"context"

	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/lambdahttp"
)

func main() { lambdahttp.Start(awshub.FromEnv().Endpoint(context.Background(), "webhook-put")) }

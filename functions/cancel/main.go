// Command cancel is the Lambda function of the endpoint cancel: POST /v1/messages/{id}/cancel.
package main

import (
	"context"

	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/lambdahttp"
)

func main() { lambdahttp.Start(awshub.FromEnv().Endpoint(context.Background(), "cancel")) }

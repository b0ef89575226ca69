// Command directive-read is the Lambda function of the endpoint directive-read: GET /v1/directives/{id}.
package main

import (
	"context"

	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/lambdahttp"
)

func main() { lambdahttp.Start(awshub.FromEnv().Endpoint(context.Background(), "directive-read")) }

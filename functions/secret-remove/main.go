// Command secret-remove is the Lambda function of the endpoint secret-remove: POST /v1/secrets/remove.
package main

import (
	"context"

	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/lambdahttp"
)

func main() { lambdahttp.Start(awshub.FromEnv().Endpoint(context.Background(), "secret-remove")) }

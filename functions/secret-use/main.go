// Command secret-use is the Lambda function of the endpoint secret-use: POST /v1/secrets/use.
package main

import (
	"context"

	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/lambdahttp"
)

func main() { lambdahttp.Start(awshub.FromEnv().Endpoint(context.Background(), "secret-use")) }

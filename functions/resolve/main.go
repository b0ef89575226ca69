// Command resolve is the Lambda function of the endpoint resolve: POST /v1/messages/{id}/resolve.
package main

import (
	"context"

	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/lambdahttp"
)

func main() { lambdahttp.Start(awshub.FromEnv().Endpoint(context.Background(), "resolve")) }

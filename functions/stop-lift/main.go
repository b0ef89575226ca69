// Command stop-lift is the Lambda function of the endpoint stop-lift: POST /v1/stops/lift.
package main

import (
	"context"

	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/lambdahttp"
)

func main() { lambdahttp.Start(awshub.FromEnv().Endpoint(context.Background(), "stop-lift")) }

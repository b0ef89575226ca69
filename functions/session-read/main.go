// Command session-read is the Lambda function of the endpoint session-read: GET /v1/sessions/{id}.
package main

import (
	"context"

	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/lambdahttp"
)

func main() { lambdahttp.Start(awshub.FromEnv().Endpoint(context.Background(), "session-read")) }

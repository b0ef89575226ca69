// Command session-close is the Lambda function of the endpoint session-close: DELETE /v1/sessions/{id}.
package main

import (
	"context"

	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/lambdahttp"
)

func main() { lambdahttp.Start(awshub.FromEnv().Endpoint(context.Background(), "session-close")) }

// Command person-remove is the Lambda function of the endpoint person-remove: DELETE /v1/people/{id}.
package main

import (
	"context"

	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/lambdahttp"
)

func main() { lambdahttp.Start(awshub.FromEnv().Endpoint(context.Background(), "person-remove")) }

// Command allowlist-put is the Lambda function of the endpoint allowlist-put: POST /v1/allowlists.
package main

import (
	"context"

	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/lambdahttp"
)

func main() { lambdahttp.Start(awshub.FromEnv().Endpoint(context.Background(), "allowlist-put")) }

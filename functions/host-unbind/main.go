// Command host-unbind is the Lambda function of the endpoint host-unbind: POST /v1/hosts/remove.
package main

import (
	"context"

	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/lambdahttp"
)

func main() { lambdahttp.Start(awshub.FromEnv().Endpoint(context.Background(), "host-unbind")) }

// Command drain is the Lambda function of the endpoint drain: GET /v1/inbox.
package main

import (
	"context"

	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/lambdahttp"
	"github.com/mash-hub/mash/pkg/sqsbell"
)

func main() {
	lambdahttp.Start(awshub.FromEnv().Listening(sqsbell.Open).Endpoint(context.Background(), "drain"))
}

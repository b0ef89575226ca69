// Command stream is the Lambda function of the endpoint stream: GET /v1/inbox/stream.
package main

import (
	"context"

	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/lambdahttp"
	"github.com/mash-hub/mash/pkg/sqsbell"
)

func main() {
	lambdahttp.StartStream(awshub.FromEnv().Listening(sqsbell.Open).Endpoint(context.Background(), "stream"))
}

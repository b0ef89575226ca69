// Command sweep is the Lambda function that does what is due. It runs on a schedule, with a concurrency of one.
package main

import (
	"context"

	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/lambdahttp"
	"github.com/mash-hub/mash/pkg/sqsbell"
)

func main() {
	lambdahttp.StartWorker(awshub.FromEnv().Listening(sqsbell.Open).Sweeper(context.Background()))
}

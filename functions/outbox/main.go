// Command outbox is the Lambda function on the table's stream: it starts an execution for what is due soon.
package main

import (
	"context"

	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/lambdahttp"
)

func main() { lambdahttp.StartEventWorker(awshub.FromEnv().Outbox(context.Background())) }

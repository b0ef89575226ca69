// Command outbox is the Lambda function on the table's stream: it starts an execution for what is due soon, and
// wakes who waits for mail.
package main

import (
	"context"

	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/lambdahttp"
	"github.com/mash-hub/mash/pkg/sqsbell"
)

func main() { lambdahttp.StartEventWorker(awshub.FromEnv().Outbox(context.Background(), sqsbell.Open)) }

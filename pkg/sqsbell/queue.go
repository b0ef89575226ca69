package sqsbell

import (
	"context"
	"errors"
	"path"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

const (
	// unheard is after how many seconds a ring comes again that went to nobody.
	unheard = 1

	// leastRetention is the least that SQS takes. A ring is kept for the window of the claims and that: it comes again once.
	leastRetention = time.Minute
)

// open makes the queue of a lane, and says whether there is one now. One that was made with other settings is as good.
func (b *Bell) open(ctx context.Context, lane string) bool {
	_, err := b.create(ctx, &sqs.CreateQueueInput{
		QueueName: aws.String(path.Base(*b.url(lane))),
		Attributes: map[string]string{
			string(types.QueueAttributeNameVisibilityTimeout):      strconv.Itoa(unheard),
			string(types.QueueAttributeNameMessageRetentionPeriod): strconv.Itoa(int(wholeSeconds(b.window + leastRetention))),
		},
	})
	if _, there := errors.AsType[*types.QueueNameExists](err); there {
		return true
	}
	if err != nil && ctx.Err() == nil {
		b.log.WarnContext(ctx, "no queue could be made", "lane", lane, "err", err)
	}
	return err == nil
}

func wholeSeconds(d time.Duration) int32 { return int32((d + time.Second - 1) / time.Second) }

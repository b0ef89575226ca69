// Package sqsbell is a hub.Bell on SQS, so that a ring in one process wakes who waits in another: a queue a lane, made by the
// first who waits on it. A ring says "look again" and nothing else; the record decides.
//
// A ring that is received stays in the queue, hidden until the claims that it leads to have lapsed: then it comes again, and
// wakes somebody in case that who made them has died over it. One that SQS gave to a connection behind which nobody was left
// comes again after a second. A ring to a lane without a queue is dropped, since nobody waits there.
package sqsbell

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/mash-hub/mash/pkg/hub"
)

const (
	// ringTimeout bounds what a ring may add to the answer of who rings.
	ringTimeout = time.Second

	// unasked is how long nothing is asked of SQS, so that who finds something at the first look costs nothing.
	unasked = 20 * time.Millisecond

	// settles is how long after its creation a queue may still be missing for some: rings until then may be lost.
	settles = 1500 * time.Millisecond

	// looks is how long who was woken may look before SQS is asked again. Who finds something ends it then, and would leave
	// behind a receive that gets the next ring.
	looks = 250 * time.Millisecond

	// opens is how long it may take until SQS knows a queue that it has just made.
	opens = 100 * time.Millisecond

	// firstLook and widestLook are the interval of who looks by themselves while SQS fails.
	firstLook  = 250 * time.Millisecond
	widestLook = 4 * time.Second
)

// Open is New for how to reach AWS.
func Open(cfg aws.Config, queues string, window time.Duration, log *slog.Logger) hub.Bell {
	return New(sqs.NewFromConfig(cfg), queues, window, log)
}

// LongestPoll is how long SQS holds a receive; the HTTP client must wait for longer.
const LongestPoll = 20 * time.Second

// Bell is a hub.Bell. Make one with New.
type Bell struct {
	queues string        // URL of a queue up to what names its lane
	window time.Duration // for which a claim hides an entry
	log    *slog.Logger

	// What is used of the client, as functions: to hold the client itself would make the linker keep every method of it.
	send    func(context.Context, *sqs.SendMessageInput, ...func(*sqs.Options)) (*sqs.SendMessageOutput, error)
	create  func(context.Context, *sqs.CreateQueueInput, ...func(*sqs.Options)) (*sqs.CreateQueueOutput, error)
	receive func(context.Context, *sqs.ReceiveMessageInput, ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error)
	hide    func(context.Context, *sqs.ChangeMessageVisibilityInput, ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityOutput, error)
	remove  func(context.Context, *sqs.DeleteMessageBatchInput, ...func(*sqs.Options)) (*sqs.DeleteMessageBatchOutput, error)
	drop    func(context.Context, *sqs.DeleteQueueInput, ...func(*sqs.Options)) (*sqs.DeleteQueueOutput, error)
}

var _ hub.Bell = (*Bell)(nil)

// New returns a Bell whose queues have URLs that begin with queues, such as https://sqs.REGION.amazonaws.com/ACCOUNT/STACK- ;
// window is Settings.VisibilityTimeout of the hub. What fails is logged, by lane; it costs time and nothing else.
func New(client *sqs.Client, queues string, window time.Duration, log *slog.Logger) *Bell {
	return &Bell{
		queues: queues, window: window, log: log,
		send: client.SendMessage, create: client.CreateQueue, receive: client.ReceiveMessage,
		hide: client.ChangeMessageVisibility, remove: client.DeleteMessageBatch, drop: client.DeleteQueue,
	}
}

// Ring wakes somebody who listens to lane, in whatever process, as soon as SQS has the word.
func (b *Bell) Ring(ctx context.Context, lane string) {
	ctx, cancel := context.WithTimeout(ctx, ringTimeout)
	defer cancel()
	_, err := b.send(ctx, &sqs.SendMessageInput{QueueUrl: b.url(lane), MessageBody: aws.String("ring")})
	if err != nil && !missing(err) {
		b.log.WarnContext(ctx, "a ring was lost", "lane", lane, "err", err)
	}
}

// Listen returns a channel that receives after a Ring of one of the lanes, or when claims that a ring led to have lapsed,
// and now and then for no reason; and a function that ends it.
func (b *Bell) Listen(ctx context.Context, lanes ...string) (<-chan struct{}, func()) {
	ctx, cancel := context.WithCancel(ctx)
	rung := make(chan struct{}, 1)
	var listening sync.WaitGroup
	for _, lane := range lanes {
		listening.Go(func() { b.listen(ctx, lane, rung) })
	}
	return rung, func() {
		cancel()
		listening.Wait()
	}
}

// Forget removes the queue of a lane.
func (b *Bell) Forget(ctx context.Context, lane string) {
	if _, err := b.drop(ctx, &sqs.DeleteQueueInput{QueueUrl: b.url(lane)}); err != nil && !missing(err) {
		b.log.WarnContext(ctx, "a queue was left", "lane", lane, "err", err)
	}
}

// url is that of the queue of a lane. Names of queues take letters, digits, - and _ only.
func (b *Bell) url(lane string) *string {
	return aws.String(b.queues + strings.NewReplacer("#", "-", ".", "-").Replace(lane))
}

// missing says whether an error is that there is no such queue.
func missing(err error) bool {
	_, gone := errors.AsType[*types.QueueDoesNotExist](err)
	return gone
}

// listen passes on the rings of one lane until ctx is over.
func (b *Bell) listen(ctx context.Context, lane string, rung chan<- struct{}) {
	interval := firstLook
	for pause(ctx, unasked); ctx.Err() == nil; {
		if holdFor(ctx) == 0 {
			pause(ctx, LongestPoll)
			continue
		}
		heard, err := b.hear(ctx, lane)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			interval = firstLook
			if heard {
				tell(rung)
				pause(ctx, looks)
			}
		case missing(err) && b.open(ctx, lane):
			tell(rung) // those of before went nowhere
			time.AfterFunc(settles, func() { tell(rung) })
			pause(ctx, opens)
		default:
			if ctx.Err() != nil { // while the queue was made
				return
			}
			b.log.WarnContext(ctx, "rings cannot be heard", "lane", lane, "err", err)
			pause(ctx, interval)
			tell(rung)
			interval = min(2*interval, widestLook)
		}
	}
}

// tell says "look again", unless that was said and not yet heard.
func tell(rung chan<- struct{}) {
	select {
	case rung <- struct{}{}:
	default:
	}
}

// pause waits, but not beyond the end of ctx.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// hear waits for rings of a lane for as long as SQS holds a receive, and says whether there were any.
func (b *Bell) hear(ctx context.Context, lane string) (bool, error) {
	got, err := b.receive(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: b.url(lane), MaxNumberOfMessages: 10, WaitTimeSeconds: holdFor(ctx),
	})
	if err != nil || len(got.Messages) == 0 {
		return false, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ringTimeout)
	defer cancel()
	if err := errors.Join(b.postpone(ctx, lane, got.Messages[0]), b.thin(ctx, lane, got.Messages[1:])); err != nil {
		b.log.WarnContext(ctx, "rings will come too often", "lane", lane, "err", err)
	}
	return true, nil
}

// holdFor is for how long SQS is to hold a receive, in seconds. One that ends by itself gets no ring that nobody hears.
func holdFor(ctx context.Context) int32 {
	hold := LongestPoll
	if end, ok := ctx.Deadline(); ok {
		hold = min(hold, max(time.Until(end), 0))
	}
	return int32(hold / time.Second)
}

// postpone lets a ring come again when the claims have lapsed that it leads to.
func (b *Bell) postpone(ctx context.Context, lane string, ring types.Message) error {
	_, err := b.hide(ctx, &sqs.ChangeMessageVisibilityInput{
		QueueUrl: b.url(lane), ReceiptHandle: ring.ReceiptHandle, VisibilityTimeout: wholeSeconds(b.window + time.Second),
	})
	return err
}

// thin deletes rings.
func (b *Bell) thin(ctx context.Context, lane string, rings []types.Message) error {
	if len(rings) == 0 {
		return nil
	}
	var done []types.DeleteMessageBatchRequestEntry
	for _, r := range rings {
		done = append(done, types.DeleteMessageBatchRequestEntry{Id: r.MessageId, ReceiptHandle: r.ReceiptHandle})
	}
	_, err := b.remove(ctx, &sqs.DeleteMessageBatchInput{QueueUrl: b.url(lane), Entries: done})
	return err
}

package awshub

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/record"
)

// bells is a hub.Bell that hears of mail through SQS. It rings nothing: the outbox does, for whatever was committed.
type bells struct {
	Bell
	mail hub.Bell
}

var _ hub.Bell = bells{}

// MailBell makes the Bell of mailboxes, as sqsbell.Open does: its queues have URLs that begin with queues, and window is how
// long a claim hides an entry.
type MailBell func(cfg aws.Config, queues string, window time.Duration, log *slog.Logger) hub.Bell

// Listening returns the Config of who waits for mail, or removes what is left of that. Others are spared the SDK of SQS: a
// program has all of what it imports, and so this package does not import it.
func (c Config) Listening(mail MailBell) Config {
	c.Bell = func(s hub.Settings) hub.Bell {
		return bells{mail: mail(c.patient(), c.Queues, s.VisibilityTimeout, c.log())}
	}
	return c
}

// bellOf returns the Bell of the hub. Who is not Listening looks now and then.
func (c Config) bellOf(s hub.Settings) hub.Bell {
	if c.Bell == nil || c.Queues == "" {
		return Bell{}
	}
	return c.Bell(s)
}

// longestPoll is how long a queue may hold a request.
const longestPoll = 20 * time.Second

// patient returns how to reach AWS for who may be held.
func (c Config) patient() aws.Config {
	cfg := c.AWS.Copy()
	if client, ok := cfg.HTTPClient.(*awshttp.BuildableClient); ok {
		cfg.HTTPClient = client.WithTimeout(longestPoll + answerTimeout)
	}
	return cfg
}

// Listen hears rings where all of the lanes are a mailbox's, and else looks now and then.
func (b bells) Listen(ctx context.Context, lanes ...string) (<-chan struct{}, func()) {
	if slices.ContainsFunc(lanes, func(lane string) bool { return !hub.OfMailbox(lane) }) {
		return b.Bell.Listen(ctx, lanes...)
	}
	return b.mail.Listen(ctx, lanes...)
}

// Forget removes what there is for a mailbox's lane.
func (b bells) Forget(ctx context.Context, lane string) {
	if hub.OfMailbox(lane) {
		b.mail.Forget(ctx, lane)
	}
}

// Bell is a hub.Bell that no ring goes through. Instead it says "look again" at a widening interval. So a ring is heard late, by two seconds at most, and a
// lost ring costs time only: the record decides. Somebody who waits for 25 s looks 16 times.
type Bell struct{}

var _ hub.Bell = Bell{}

// The interval at which a Bell says to look again: at first short, since what comes soon is waited for most keenly.
const (
	firstLook  = 100 * time.Millisecond
	widestLook = 2 * time.Second
)

// Ring does nothing: whoever waits will look.
func (Bell) Ring(context.Context, string) {}

// Forget does nothing: nothing is kept.
func (Bell) Forget(context.Context, string) {}

// Listen returns a channel that receives now and then, whether or not anybody rang, and a function that ends it.
func (Bell) Listen(ctx context.Context, _ ...string) (<-chan struct{}, func()) {
	ctx, cancel := context.WithCancel(ctx)
	rung := make(chan struct{}, 1)
	var ticking sync.WaitGroup
	ticking.Go(func() { tick(ctx, rung) })
	return rung, func() {
		cancel()
		ticking.Wait()
	}
}

func tick(ctx context.Context, rung chan<- struct{}) {
	for interval := firstLook; ; interval = min(2*interval, widestLook) {
		look := time.NewTimer(interval)
		select {
		case <-look.C:
		case <-ctx.Done():
			look.Stop()
			return
		}
		select {
		case rung <- struct{}{}:
		default: // told already, and not yet heard
		}
	}
}

// idle is a hub.Clockwork that arms nothing: a function stands still once it has answered, so a timer in it would go off
// whenever the next event comes, or never. What is due stands in the record, which the stream brings to the outbox.
type idle struct{}

var _ hub.Clockwork = idle{}

// Arm does nothing.
func (idle) Arm(context.Context, record.Key, time.Time) {}

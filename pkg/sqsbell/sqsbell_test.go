package sqsbell_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/mash-hub/mash/pkg/dynamostore/dynamotest"
	"github.com/mash-hub/mash/pkg/record"
	"github.com/mash-hub/mash/pkg/sqsbell"
)

func TestMain(m *testing.M) { os.Exit(dynamotest.Main(m)) }

// patience is how long a test waits for what must come, on a machine that does much else besides.
const patience = 30 * time.Second

// rig is two processes of one stack on an emulator: one that rings and one that listens.
type rig struct {
	t               *testing.T
	client          *sqs.Client
	stack           string
	ringer, waiting *sqsbell.Bell
	log             bytes.Buffer
}

// lane is one of a mailbox.
const lane = "q#s.00000000000000000000000001"

// emulated runs a test where there is an emulator; window is how long claims hide entries.
func emulated(t *testing.T, window time.Duration, test func(t *testing.T, r *rig)) {
	t.Helper()
	t.Parallel()
	if !dynamotest.Wanted(t) {
		return
	}
	r := &rig{t: t, stack: record.NewRev()}
	r.client = sqs.NewFromConfig(dynamotest.Config(dynamotest.Transport(t)))
	r.ringer, r.waiting = r.bell(window), r.bell(window)
	test(t, r)
	if r.log.Len() > 0 {
		t.Errorf("in the log:\n%s", r.log.String())
	}
}

func (r *rig) bell(window time.Duration) *sqsbell.Bell {
	queues := "https://sqs.us-east-1.amazonaws.com/000000000000/" + r.stack + "-"
	return sqsbell.New(r.client, queues, window, slog.New(slog.NewTextHandler(&r.log, nil)))
}

// listens listens to lanes until what comes of the queue's creation is over.
func (r *rig) listens(lanes ...string) <-chan struct{} {
	r.t.Helper()
	rung, stop := r.waiting.Listen(r.t.Context(), lanes...)
	r.t.Cleanup(stop)
	for range lanes {
		hears(r.t, rung)
	}
	for r.quiet(rung) {
	}
	return rung
}

// quiet says whether a listener heard something in the time in which it is told that its queue is new.
func (r *rig) quiet(rung <-chan struct{}) bool {
	t := time.NewTimer(2 * time.Second)
	defer t.Stop()
	select {
	case <-rung:
		return true
	case <-t.C:
		return false
	}
}

func hears(t *testing.T, rung <-chan struct{}) {
	t.Helper()
	select {
	case <-rung:
	case <-time.After(patience):
		t.Fatal("a ring was not heard")
	}
}

// queue returns how many rings a lane's queue holds, hidden ones included, and false when there is none.
func (r *rig) queue(name string) (rings int, there bool) {
	r.t.Helper()
	out, err := r.client.GetQueueAttributes(r.t.Context(), &sqs.GetQueueAttributesInput{
		QueueUrl:       aws.String("https://sqs.us-east-1.amazonaws.com/000000000000/" + r.stack + "-" + name),
		AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll},
	})
	if err != nil {
		return 0, false
	}
	for _, a := range []types.QueueAttributeName{
		types.QueueAttributeNameApproximateNumberOfMessages, types.QueueAttributeNameApproximateNumberOfMessagesNotVisible,
	} {
		n, err := strconv.Atoi(out.Attributes[string(a)])
		if err != nil {
			r.t.Fatal(err)
		}
		rings += n
	}
	return rings, true
}

const queueOfLane = "q-s-00000000000000000000000001"

func TestARingWakesWhoListensInAnotherProcess(t *testing.T) {
	emulated(t, time.Minute, func(t *testing.T, r *rig) {
		rung := r.listens("q#d.a", lane)
		for _, l := range []string{lane, "q#d.a"} {
			r.ringer.Ring(t.Context(), l)
			hears(t, rung)
		}
	})
}

func TestARingComesAgainOnceTheClaimsHaveLapsed(t *testing.T) {
	emulated(t, 3*time.Second, func(t *testing.T, r *rig) {
		rung := r.listens(lane)
		r.ringer.Ring(t.Context(), lane)
		hears(t, rung)
		if !r.quiet(rung) {
			hears(t, rung)
		} else {
			t.Error("a ring comes again while the claims are good")
		}
	})
}

func TestARingThatWentToNobodyComesAgainAtOnce(t *testing.T) {
	emulated(t, time.Hour, func(t *testing.T, r *rig) {
		_, stop := r.waiting.Listen(t.Context(), lane)
		r.untilThereIsAQueue()
		stop()
		r.ringer.Ring(t.Context(), lane)
		queue := aws.String("https://sqs.us-east-1.amazonaws.com/000000000000/" + r.stack + "-" + queueOfLane)
		got, err := r.client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: queue, WaitTimeSeconds: 20})
		if err != nil || len(got.Messages) != 1 {
			t.Fatalf("received %d rings, %v", len(got.Messages), err)
		}
		rung, stop := r.waiting.Listen(t.Context(), lane)
		defer stop()
		hears(t, rung)
	})
}

func (r *rig) untilThereIsAQueue() {
	r.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if _, there := r.queue(queueOfLane); there {
			return
		}
	}
	r.t.Fatal("no queue is made")
}

func TestManyRingsAreHeardAsFewAndOneComesAgain(t *testing.T) {
	emulated(t, time.Minute, func(t *testing.T, r *rig) {
		rung := r.listens(lane)
		var ringing sync.WaitGroup
		for range 50 {
			ringing.Go(func() { r.ringer.Ring(t.Context(), lane) })
		}
		ringing.Wait()
		hears(t, rung)
		for end := time.Now().Add(patience); ; {
			n, _ := r.queue(queueOfLane)
			if n <= 20 { // one of each batch that was received, of ten rings where there were as many
				break
			}
			if time.Now().After(end) {
				t.Fatalf("%d of 50 rings are kept", n)
			}
		}
	})
}

func TestARingToWhereNobodyWaitsMakesNothing(t *testing.T) {
	emulated(t, time.Minute, func(t *testing.T, r *rig) {
		r.ringer.Ring(t.Context(), lane)
		if _, there := r.queue(queueOfLane); there {
			t.Error("a ring made a queue")
		}
		_, stop := r.waiting.Listen(t.Context(), lane)
		stop()
		if _, there := r.queue(queueOfLane); there {
			t.Error("who found something at once made a queue")
		}
	})
}

func TestWhatIsForgottenIsGoneAndCanBeForgottenTwice(t *testing.T) {
	emulated(t, time.Minute, func(t *testing.T, r *rig) {
		r.listens(lane)
		if _, there := r.queue(queueOfLane); !there {
			t.Fatal("there is no queue")
		}
		r.ringer.Forget(t.Context(), lane)
		if _, there := r.queue(queueOfLane); there {
			t.Error("the queue is still there")
		}
		r.ringer.Forget(t.Context(), lane)
	})
}

// broken is a network that is down.
type broken struct{}

func (broken) RoundTrip(*http.Request) (*http.Response, error) { return nil, context.DeadlineExceeded }

func TestWhoWaitsLooksByThemselvesWhileTheQueueFails(t *testing.T) {
	t.Parallel()
	config := dynamotest.Config(broken{})
	config.RetryMaxAttempts = 1
	b := sqsbell.New(sqs.NewFromConfig(config), "https://sqs.example/1/Mash-", time.Minute, slog.New(slog.DiscardHandler))
	b.Ring(t.Context(), lane) // and does not hang
	rung, stop := b.Listen(t.Context(), lane)
	hears(t, rung)
	hears(t, rung)
	stop()
}

package dynamostore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// The budget of one request that DynamoDB refuses for a while: see Store. The pauses between its tries double from shortest
// to longest, each drawn at random up to that. The SDK's own retries, three at most, come before each of them.
const (
	shortestPause = 10 * time.Millisecond
	longestPause  = 2 * time.Second
	patience      = 20 * time.Second // less than the 30 s for which an API Gateway waits
	mostTries     = 24
)

// retry counts the tries of one request. The zero value has made none.
type retry struct {
	made  int
	until time.Time // when its time is over; set when the first of them has failed
}

func (r *retry) reset() { *r = retry{} }

// wait pauses before another try, or returns cause when the budget is spent, or why the context ended.
func (r *retry) wait(ctx context.Context, cause error) error {
	if cause == nil {
		cause = errors.New("items left unprocessed")
	}
	now := time.Now()
	if r.made++; r.made == 1 {
		r.until = now.Add(budget(ctx, now))
	}
	pause := rand.N(min(shortestPause<<min(r.made-1, 10), longestPause)) + time.Millisecond //nolint:gosec // jitter needs no secrecy
	if r.made >= mostTries || now.Add(pause).After(r.until) {
		return fmt.Errorf("after %d tries: %w", r.made, cause)
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return errors.Join(ctx.Err(), cause)
	}
}

// budget is for how long a request may be tried again. Of the time until a deadline a tenth is left, so that whoever asked
// can still say something.
func budget(ctx context.Context, now time.Time) time.Duration {
	deadline, bounded := ctx.Deadline()
	if !bounded {
		return patience
	}
	return min(patience, deadline.Sub(now)*9/10)
}

// throttled says whether DynamoDB wants the request later.
func throttled(err error) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return false
	}
	switch api.ErrorCode() {
	case "ThrottlingException", "ProvisionedThroughputExceededException", "RequestLimitExceeded":
		return true
	}
	return reasoned(err, "ThrottlingError", "ProvisionedThroughputExceeded")
}

// contended says whether another transaction was at work on the same items. That is no lost condition: nobody has won.
func contended(err error) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return false
	}
	switch api.ErrorCode() {
	case "TransactionConflictException", "TransactionInProgressException":
		return true
	}
	return reasoned(err, "TransactionConflict")
}

// reasoned says whether one of the reasons of a cancelled transaction has one of the codes.
func reasoned(err error, codes ...string) bool {
	canceled, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok {
		return false
	}
	for _, reason := range canceled.CancellationReasons {
		for _, code := range codes {
			if aws.ToString(reason.Code) == code {
				return true
			}
		}
	}
	return false
}

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

// How long a request that DynamoDB refuses is tried again: until the context's deadline, or where it has none for as long
// as patience, which is less than the 29 s for which an API Gateway waits. The pauses double from shortest to longest,
// each drawn at random up to that. The SDK's own retries come before.
const (
	shortestPause = 10 * time.Millisecond
	longestPause  = 2 * time.Second
	patience      = 20 * time.Second
)

// retry counts the tries of one request. The zero value has made none.
type retry struct {
	made  int
	since time.Time // when the first of them had failed
}

func (r *retry) reset() { *r = retry{} }

// wait pauses before another try, or returns cause when there have been enough, or why the context ended.
func (r *retry) wait(ctx context.Context, cause error) error {
	if cause == nil {
		cause = errors.New("items left unprocessed")
	}
	now := time.Now()
	if r.made++; r.made == 1 {
		r.since = now
	}
	pause := rand.N(min(shortestPause<<min(r.made-1, 10), longestPause)) + time.Millisecond //nolint:gosec // jitter needs no secrecy
	if _, bounded := ctx.Deadline(); !bounded && now.Add(pause).Sub(r.since) > patience {
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

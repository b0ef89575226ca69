// Command awsfaults makes parts of a deployed hub fail for a while, and looks whether expiry and callbacks happen all the
// same, once each, and whether what is read is right all along. At the end everything is as it was.
//
//	awsfaults -stack .tools/aws-stack.json
//
// It receives the callbacks itself, at the address to which the stack may push. It compares the hub's times with its own
// clock, so it is for a hub on the same machine. Meanwhile the sweep's schedule is off, so that it is known who did what.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os/signal"
	"syscall"
	"time"

	"github.com/mash-hub/mash/tools/internal/gotest"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("awsfaults: ")
	file := flag.String("stack", ".tools/aws-stack.json", "the `file` that says what is deployed")
	flag.Parse()
	signal.Ignore(syscall.SIGPIPE) // who reads may go before everything is put back
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	failed, err := run(ctx, *file)
	if err != nil {
		log.Fatal(err) //nolint:gocritic // everything is put back by now
	}
	if failed > 0 {
		log.Fatal("not everything held") //nolint:gocritic // as above
	}
}

// scenario makes something fail and returns in a few words what it saw. Its error says what did not hold.
type scenario struct {
	name string
	run  func(context.Context, *trial) (saw string, _ error)
}

// scenarios has the last look at the end: it is at what all others have left.
func scenarios() []scenario {
	return []scenario{
		{"the outbox fails, the sweep does its work", outboxFails},
		{"the outbox fails and comes back before any sweep", outboxReturns},
		{"waiting executions are stopped", executionsStop},
		{"fire and deliver fail and come back before any sweep", workersReturn},
		{"fire and deliver fail, the sweep does their work", workersFail},
		{"the stream comes doubled and reordered", streamRepeats},
		{"a last look at every message", lastLook},
	}
}

func run(ctx context.Context, file string) (failed int, err error) {
	t, err := begin(ctx, file)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, t.end(context.WithoutCancel(ctx))) }()
	if err := errors.Join(t.mend(ctx), t.pauseSchedule(ctx)); err != nil { // a run that was killed may have left something
		return 0, err
	}
	passed := 0
	for _, s := range scenarios() {
		if ctx.Err() != nil {
			return failed, ctx.Err()
		}
		began := time.Now()
		saw, err := s.run(ctx, t)
		err = errors.Join(err, t.mend(context.WithoutCancel(ctx)))
		took := time.Since(began).Seconds()
		if err != nil {
			failed++
			fmt.Printf("FAIL  %s, %.1f s: %v\n", s.name, took, err)
			continue
		}
		passed++
		fmt.Printf("ok    %s: %s; %.1f s\n", s.name, saw, took)
	}
	return failed, gotest.Report(passed, failed)
}

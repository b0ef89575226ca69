package main

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// TestTheDemoEndsWithItsHub lets either side of the demo end first. Neither may wait for the other for long.
func TestTheDemoEndsWithItsHub(t *testing.T) {
	t.Parallel()
	broken, declined := errors.New("the hub broke"), errors.New("declined")
	untilDone := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	stops := func(ctx context.Context) error { <-ctx.Done(); return nil }
	for name, c := range map[string]struct {
		serve, do func(context.Context) error
		want      []error
		not       error
	}{
		"all goes well":          {stops, func(context.Context) error { return nil }, nil, nil},
		"the hub breaks":         {func(context.Context) error { return broken }, untilDone, []error{broken}, context.Canceled},
		"the hub cannot end":     {func(ctx context.Context) error { <-ctx.Done(); return broken }, func(context.Context) error { return declined }, []error{broken, declined}, nil},
		"the answer is no":       {stops, func(context.Context) error { return declined }, []error{declined}, nil},
		"nobody answers in time": {stops, untilDone, []error{context.DeadlineExceeded}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
				defer cancel()
				began := time.Now()
				err := whileServing(ctx, c.serve, c.do)
				for _, want := range c.want {
					if !errors.Is(err, want) {
						t.Errorf("the demo ended with %v, want %v", err, want)
					}
				}
				if len(c.want) == 0 && err != nil || c.not != nil && errors.Is(err, c.not) {
					t.Errorf("the demo ended with %v", err)
				}
				if took := time.Since(began); took > 0 && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("the demo ended after %v, want at once", took)
				}
			})
		})
	}
}

// TestTheDemoStaysForALastLook lets the demo come to its end in every way.
func TestTheDemoStaysForALastLook(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer string
		ctrlC  time.Duration
		want   time.Duration
	}{
		"a person answered": {"", time.Hour, lastLook},
		"Ctrl-C":            {"", time.Second, time.Second},
		"ANSWER answered":   {"approve", time.Hour, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), c.ctrlC)
				defer cancel()
				d := &demo{program: &program{stdout: io.Discard, env: func(string) string { return c.answer }}}
				began := time.Now()
				if d.linger(ctx); time.Since(began) != c.want {
					t.Errorf("it stayed %v, want %v", time.Since(began), c.want)
				}
			})
		})
	}
}

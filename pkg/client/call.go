package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/ma2h"
)

const (
	attemptTimeout = 30 * time.Second // of one try, besides what the hub was asked to hold
	firstPause     = 250 * time.Millisecond
	longestPause   = 10 * time.Second
	maxAnswer      = 16 << 20 // bytes
)

// request is one call of an endpoint.
type request struct {
	name    endpoint.Name
	ids     []string
	query   url.Values
	body    []byte
	into    any           // what the answer is decoded into, or nil
	header  *http.Header  // where the answer's header goes, or nil
	repeat  bool          // whether a try may be made again though the last may have had its effect
	endless bool          // whether only ctx ends the tries
	hold    time.Duration // for how long the hub may hold its answer
}

// send encodes body and makes the call.
func (c *Client) send(ctx context.Context, r request, body any) error {
	encoded, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	r.body = encoded
	return c.call(ctx, r)
}

// call makes a request until there is an answer that stands. Each try sends the same bytes.
func (c *Client) call(ctx context.Context, r request) error {
	patience := c.Patience
	if patience == 0 {
		patience = DefaultPatience
	}
	end := c.now().Add(patience)
	for try := 0; ; try++ {
		err := c.try(ctx, r)
		if err == nil {
			return nil
		}
		pause, again := r.pauseAfter(try, err)
		if ctx.Err() != nil {
			return fmt.Errorf("%s: %w", r.name, errors.Join(ctx.Err(), err))
		}
		if !again || !r.endless && c.now().Add(pause).After(end) {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		if stopped := sleep(ctx, pause); stopped != nil {
			return fmt.Errorf("%s: %w", r.name, errors.Join(stopped, err))
		}
	}
}

// pauseAfter says whether to try again after err, and when. A 429 had no effect and can always be tried again, as the hub
// says (spec §8.6).
func (r request) pauseAfter(try int, err error) (time.Duration, bool) {
	pause := min(firstPause<<min(try, 10), longestPause)
	pause += time.Duration(rand.Int64N(int64(pause)/4 + 1)) //nolint:gosec // jitter needs no secrecy
	var u *unusable
	if errors.As(err, &u) {
		return 0, false
	}
	e := ma2h.AsError(err)
	if e == nil {
		return pause, r.repeat
	}
	pause = max(pause, e.RetryAfter)
	switch status := e.Status(); status {
	case http.StatusTooManyRequests:
		return pause, true
	case http.StatusNotImplemented:
		return 0, false
	default:
		return pause, r.repeat && status >= http.StatusInternalServerError
	}
}

// unusable is an error that no repetition will change.
type unusable struct{ error }

func (u *unusable) Unwrap() error { return u.error }

func (c *Client) try(ctx context.Context, r request) error {
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout+r.hold)
	defer cancel()
	req, err := c.newRequest(ctx, r)
	if err != nil {
		return &unusable{err}
	}
	resp, err := c.httpFor(req.URL.Hostname()).Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return c.errorOf(r.name, resp, body)
	}
	if r.header != nil {
		*r.header = resp.Header
	}
	if r.into == nil {
		return nil
	}
	if !jsontext.Value(body).IsValid() {
		return &ma2h.Error{Code: ma2h.CodeInternalError, HTTPStatus: resp.StatusCode, Message: c.noHub(resp.StatusCode)}
	}
	return decode(body, r.into)
}

func (c *Client) newRequest(ctx context.Context, r request) (*http.Request, error) {
	e := endpoint.Of(r.name)
	target := strings.TrimRight(c.URL, "/") + e.Fill(r.ids...)
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, e.Method, target, bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if e.Caller != endpoint.None {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	return req, nil
}

// decode reads an answer into v. One that cannot be read does not get better by being asked for again.
func decode(body []byte, v any) error {
	if err := json.Unmarshal(body, v); err != nil {
		return &unusable{fmt.Errorf("the hub's answer cannot be read: %w", err)}
	}
	return nil
}

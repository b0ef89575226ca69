package awshub

import (
	"context"
	"log/slog"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/hub"
)

// attempts is a hub.Pusher that logs what came of each attempt, by ids and codes: the stack counts these lines, to tell
// when callbacks fail.
type attempts struct {
	hub.Pusher
	log *slog.Logger
}

// Push makes the attempt and logs it.
func (a attempts) Push(ctx context.Context, p hub.Push) hub.PushResult {
	r := a.Pusher.Push(ctx, p)
	a.log.InfoContext(ctx, endpoint.LogAttempt, "message", p.MessageID, "attempt", p.Attempt,
		"delivered", r.Delivered(), "status", r.Status, "failure", r.Failure)
	return r
}

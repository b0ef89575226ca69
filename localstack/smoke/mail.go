package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// tell tells the agent two things: one is pushed to its webhook, and one is drained under a session. It acknowledges both.
func (s stack) tell(
	ctx context.Context, owner *client.Client, box *client.Mailbox, agent string, told <-chan *client.DirectiveEntry,
) error {
	if err := owner.SetWebhook(ctx, agent, s.webhook()); err != nil {
		return err
	}
	sent, err := owner.Direct(ctx, ma2h.Directive{To: ma2h.AgentPrefix + agent, Title: "Do not deploy on Friday"})
	if err != nil {
		return err
	}
	select {
	case e := <-told:
		if e.Key() != sent.ID {
			return fmt.Errorf("what was pushed is %s, want %s", e.Key(), sent.ID)
		}
		say("told", "%s, pushed, and its signature is good", sent.ID)
		if err := acknowledge(ctx, owner, box, e); err != nil {
			return err
		}
	case <-ctx.Done():
		return errors.New("what the agent was told was not pushed in time")
	}
	return drained(ctx, owner, box, agent)
}

// drained follows a directive to a session of the agent.
func drained(ctx context.Context, owner *client.Client, box *client.Mailbox, agent string) error {
	session, err := box.Client.Register(ctx, client.Registration{Label: "smoke"})
	if err != nil {
		return err
	}
	under := &client.Mailbox{Client: box.Client, Session: session.ID}
	to := ma2h.Address{AgentID: agent, Session: session.ID}
	sent, err := owner.Direct(ctx, ma2h.Directive{To: to.String(), Title: "Stop after this one"})
	if err != nil {
		return err
	}
	for {
		got, err := under.Drain(ctx, client.DrainOptions{Wait: time.Second})
		if err != nil {
			return err
		}
		for _, e := range got.Entries {
			if e.Key() != sent.ID {
				continue
			}
			say("drained", "%s, and its signature is good", sent.ID)
			if err := acknowledge(ctx, owner, under, e); err != nil {
				return err
			}
			_, err := box.Client.CloseSession(ctx, session.ID)
			return err
		}
	}
}

// acknowledge says that the agent has done with an entry, and looks at what its sender is told of that.
func acknowledge(ctx context.Context, owner *client.Client, box *client.Mailbox, e client.Entry) error {
	if _, err := box.Ack(ctx, "On it.", e); err != nil {
		return err
	}
	track, err := owner.ReadDirective(ctx, e.Key())
	if err != nil {
		return err
	}
	if track.Mailbox.State != ma2h.TrackAcknowledged {
		return fmt.Errorf("%s was acknowledged, and its sender is told that it is %s", e.Key(), track.Mailbox.State)
	}
	say("acked", "%s", e.Key())
	return nil
}

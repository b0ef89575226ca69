package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// everyAgent is what --allow takes for all agents of the account.
const everyAgent = "all"

// listener is a bridge between an agent's mailbox and a program.
type listener struct {
	p       *program
	c       *client.Client
	label   string
	ttl     time.Duration
	command string         // of a shell, or empty to print entries
	policy  *client.Policy // whose asks and tasks are handed on
	once    bool           // until nothing waits any more

	box    *client.Mailbox // under the session of now
	lease  time.Duration   // of that session
	acted  client.Acted
	denied map[string]bool // messages that nobody allowed, which were told
	down   bool            // the hub did not answer, which was told
	faults int             // since it did
}

// listenCommand is `mash listen`.
func listenCommand(flags *flag.FlagSet) action {
	l := &listener{denied: map[string]bool{}}
	allow := listFlag(flags, "allow")
	flags.StringVar(&l.label, "session", "", "")
	flags.Func("exec", "", func(command string) error { // an empty one would acknowledge what nobody has handled
		if l.command = command; strings.TrimSpace(command) == "" {
			return errors.New("wants a command")
		}
		return nil
	})
	flags.BoolVar(&l.once, "once", false, "")
	flags.Func("ttl", "", func(s string) (err error) { l.ttl, err = waitingTime(s); return err })
	return func(ctx context.Context, p *program, args []string) error {
		if len(args) > 0 {
			return usagef("", "listen takes no argument, but got %q; what to run stands behind --exec.", args[0])
		}
		c, err := p.agentClient()
		if err != nil {
			return err
		}
		l.p, l.c, l.policy = p, c, client.AllowAgents(*allow...)
		if slices.Contains(*allow, everyAgent) {
			l.policy = client.AllowEveryAgent()
		}
		broken := make(chan os.Signal, 1) // so that a reader who has gone ends the session, and not the process at once
		signal.Notify(broken, syscall.SIGPIPE)
		defer signal.Stop(broken)
		err = l.listen(ctx)
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			return nil // to be stopped is how it ends
		}
		return l.explained(err)
	}
}

// listen registers a session and hands on what comes, until the context ends or the hub says to stop. Then the session is
// closed, so that what waits for it comes back to its senders.
func (l *listener) listen(ctx context.Context) error {
	me, err := retried(ctx, l, func() (client.Me, error) { return l.c.Me(ctx) })
	if err != nil {
		return err
	}
	if me.AgentID == "" {
		return fmt.Errorf("MASH_TOKEN is that of %s; listen takes an agent's", me.Actor)
	}
	if err := l.register(ctx); err != nil {
		return err
	}
	fmt.Fprintf(l.p.stderr, "%s listens under %s.\nIt takes asks and tasks of %s.\n",
		cleanLine(me.Actor), l.box.Session, cleanLine(l.policy.String()))
	defer func() { l.closeSession(context.WithoutCancel(ctx)) }()
	began := time.Now()
	for {
		took, err := l.round(ctx)
		switch {
		case err == nil && took == 0 && l.once:
			return nil
		case err == nil:
		case isGone(err):
			fmt.Fprintf(l.p.stderr, "The session %s has ended; a new one begins.\n", l.box.Session)
			if err := sleepFor(ctx, leastLife-time.Since(began)); err != nil {
				return err
			}
			began = time.Now()
			if err := l.register(ctx); err != nil {
				return err
			}
			fmt.Fprintf(l.p.stderr, "%s listens under %s.\n", cleanLine(me.Actor), l.box.Session)
		default:
			return err
		}
	}
}

// leastLife is how far apart sessions begin at least, whatever the hub says of them.
const leastLife = 2 * time.Second

// register begins a session.
func (l *listener) register(ctx context.Context) error {
	s, err := retried(ctx, l, func() (*ma2h.Session, error) {
		return l.c.Register(ctx, client.Registration{RunID: l.c.Agent.RunID, Label: l.label, Kind: "listen", TTL: l.ttl})
	})
	if err != nil {
		return err
	}
	l.box = &client.Mailbox{Client: l.c, Session: s.ID, Policy: l.policy}
	from, _ := ma2h.ParseTime(s.CreatedAt)
	till, _ := ma2h.ParseTime(s.ExpiresAt)
	l.lease = till.Sub(from)
	return nil
}

// isGone says whether an error is that of a session that has lapsed, or has been forgotten since (spec §16.3).
func isGone(err error) bool {
	e := ma2h.AsError(err)
	return e != nil && (e.Code == ma2h.CodeGone || e.Code == ma2h.CodeNotFound)
}

const (
	heldFor   = 50 * time.Second // below the patience of most proxies
	leastHold = time.Second      // between two looks, where the hub does not hold
)

// round waits for an entry and handles it. One at a time is taken, so that none waits here while somebody else could have it.
func (l *listener) round(ctx context.Context) (took int, _ error) {
	began := time.Now()
	o := client.DrainOptions{Wait: min(heldFor, l.lease/2), Max: 1}
	if l.once {
		o.Wait = 0
	}
	got, err := retried(ctx, l, func() (*client.Drained, error) { return l.box.Drain(ctx, o) })
	if err != nil {
		return 0, err
	}
	for _, why := range got.Refused {
		fmt.Fprintf(l.p.stderr, "An entry was refused, and nothing done about it: %s.\n", cleanLine(why.Error()))
	}
	for _, w := range got.Withheld {
		l.leave(w)
	}
	for _, e := range got.Entries {
		if err := l.handle(ctx, e); err != nil {
			return 0, err
		}
	}
	took = len(got.Entries) + len(got.Refused) + len(got.Withheld)
	if took == 0 && !l.once {
		return 0, sleepFor(ctx, leastHold-time.Since(began))
	}
	return took, nil
}

// handle hands an entry on, once, and acknowledges it when that has succeeded. An error ends the session or the program;
// what became of the entry is none.
func (l *listener) handle(ctx context.Context, e client.Entry) error {
	note := ""
	err := l.acted.DoEntry(e, func() (err error) { note, err = l.hand(ctx, e); return err })
	if broken, ok := errors.AsType[*brokenPipe](err); ok {
		return broken
	}
	if err != nil {
		fmt.Fprintf(l.p.stderr, "%s was not acknowledged and comes again: %s.\n", e.Key(), cleanLine(err.Error()))
		return nil
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), ackWithin) // what was done is said, even by one who is to end
	defer cancel()
	_, err = retried(late, l, func() (*client.Acked, error) { return l.box.Ack(late, note, e) })
	if err != nil && late.Err() != nil {
		return ctx.Err()
	}
	return err
}

const ackWithin = 30 * time.Second

// leave says once that an ask or task was left alone, since nobody here allowed it.
func (l *listener) leave(w client.Withheld) {
	if l.denied[w.ID] {
		return
	}
	l.denied[w.ID] = true
	from, _ := ma2h.ParseAddress(w.From)
	fmt.Fprintf(l.p.stderr, "%s from %s was left alone: nobody allowed its %ss. Start with --allow %s to take them.\n",
		w.ID, cleanLine(w.From), w.Type, shellQuote(from.AgentID))
}

// closeSession ends the session, as well as can be.
func (l *listener) closeSession(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if _, err := l.c.CloseSession(ctx, l.box.Session); err != nil && !isGone(err) {
		fmt.Fprintf(l.p.stderr, "The session %s could not be closed and lapses by itself.\n", l.box.Session)
	}
}

// explained says of a stop what to do about it.
func (l *listener) explained(err error) error {
	e := ma2h.AsError(err)
	if e == nil || e.Code != ma2h.CodeSessionClosedByOperator {
		return err
	}
	return fmt.Errorf("a person has stopped this agent; it begins no session until one says `%s lift` for it", l.p.name)
}

const (
	firstPause   = 500 * time.Millisecond
	longestPause = 30 * time.Second
)

// retried does something until the hub answers.
func retried[T any](ctx context.Context, l *listener, do func() (T, error)) (T, error) {
	for {
		v, err := do()
		e := ma2h.AsError(err)
		busy := e != nil && (e.Status() >= 500 || e.Code == ma2h.CodeRateLimited)
		if err == nil || ctx.Err() != nil || e != nil && !busy && !errors.Is(err, client.ErrNoKeys) {
			if err == nil && l.down {
				fmt.Fprintln(l.p.stderr, "The hub answers again.")
			}
			l.faults, l.down = 0, false
			if err != nil && ctx.Err() != nil {
				err = errors.Join(ctx.Err(), err)
			}
			return v, err
		}
		if !l.down {
			fmt.Fprintf(l.p.stderr, "%s It is tried again.\n", l.p.explain(err))
		}
		l.down = true
		pause := min(firstPause<<min(l.faults, 8), longestPause)
		l.faults++
		if e != nil {
			pause = max(pause, e.RetryAfter)
		}
		if stopped := sleepFor(ctx, pause); stopped != nil {
			return v, errors.Join(stopped, err)
		}
	}
}

// sleepFor returns after d, or with ctx's error.
func sleepFor(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(max(d, 0))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Command mash is Mash on one machine: the hub (serve), the agent's side (ask, notify, task, pull, cancel, ack), the
// person's side (answer, link, agent), and a demo of the whole way round. `mash help` lists the commands.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() { start(defaultListen) }

// start runs mash where a hub listens at usual unless told otherwise, and ends the process.
func start(usual string) {
	ctx, stop := untilSignal()
	p := &program{
		name: typed(os.Args[0]), stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, env: os.Getenv, usual: usual,
	}
	if info, err := os.Stdout.Stat(); err == nil {
		p.terminal = info.Mode()&os.ModeCharDevice != 0
	}
	code := p.run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// untilSignal is a context that the first Ctrl-C ends. Whom that one does not stop, the second one does: from before the context
// ends, signals do again what they do to any process.
func untilSignal() (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		signal.Stop(signals)
		stop()
		select {
		case second := <-signals: // it came while the first was heard
			_ = syscall.Kill(os.Getpid(), second.(syscall.Signal))
		default:
		}
	}()
	return ctx, stop
}

// Command mash is Mash on one machine: the hub (serve), the agent's side (ask, notify, task, pull, cancel, ack), the
// person's side (answer, link, agent), and a demo of the whole way round. `mash help` lists the commands.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // whom the first Ctrl-C does not stop, the second one does
	code := run(ctx, os.Args, os.Stdin, os.Stdout, os.Stderr, os.Getenv)
	stop()
	os.Exit(code)
}

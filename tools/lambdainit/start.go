package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"time"
)

// patience is how long a function may take until it is given up.
const patience = 20 * time.Second

// start runs a function until it asks for its first event, and returns how long that took.
func start(bootstrap string, environment []string) (time.Duration, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	asked := make(chan time.Time, 1)
	runtime := &http.Server{ReadHeaderTimeout: patience, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/runtime/invocation/next") {
			select {
			case asked <- time.Now():
			default:
			}
		}
		<-r.Context().Done() // no event ever comes
	})}
	served := make(chan error, 1)
	go func() { served <- runtime.Serve(listener) }()
	took, err := until(asked, bootstrap, append(environment, "AWS_LAMBDA_RUNTIME_API="+listener.Addr().String()))
	closed := runtime.Close()
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return 0, err
	}
	return took, errors.Join(err, closed)
}

func until(asked <-chan time.Time, bootstrap string, environment []string) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var said bytes.Buffer
	function := exec.CommandContext(ctx, bootstrap)
	function.Env, function.Stderr = environment, &said
	began := time.Now()
	if err := function.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- function.Wait() }()
	select {
	case at := <-asked:
		cancel()
		<-ended //nolint:errcheck // we ended it
		return at.Sub(began), nil
	case err := <-ended:
		return 0, fmt.Errorf("it ended before its first event: %w: %s", err, bytes.TrimSpace(said.Bytes()))
	}
}

package localhub

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/keyring"
	"github.com/mash-hub/mash/pkg/metrics"
	"github.com/mash-hub/mash/pkg/sqlitestore"
)

// requestGrace is how long requests that are under way may go on once the hub is to end.
const requestGrace = 3 * time.Second

// Run serves until ctx is done. Then the hub says that it is not ready, goes on for Config.Drain, takes no more connections,
// ends every wait with what there is, lets requests and attempts at callbacks that are under way come to their end, and
// closes everything: within Drain and ten seconds. What is cut off is done at the next start.
func (s *Server) Run(ctx context.Context) error {
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	var workers sync.WaitGroup
	workers.Go(func() { s.clock.run(working) })
	workers.Go(func() { s.collectGarbage(working) })
	workers.Go(func() { s.reloadKeys(working) })
	if s.watchers != nil {
		workers.Go(func() { s.serveMetrics(working) })
	}
	served := make(chan error, 1)
	go func() { served <- s.http.Serve(s.listener) }()
	var err error
	select {
	case err = <-served: // by itself; what waits is to end before the store does
		close(s.draining)
		close(s.stopping)
	case <-ctx.Done():
		err = s.shutdown(ctx)
	}
	stop()
	workers.Wait()
	s.close()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// shutdown ends every wait, and gives what is under way a few seconds.
func (s *Server) shutdown(ctx context.Context) error {
	close(s.draining)
	if s.drain > 0 {
		time.Sleep(s.drain) // a second signal ends the process
	}
	close(s.stopping)
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestGrace)
	defer cancel()
	if err := s.http.Shutdown(grace); err != nil {
		return s.http.Close()
	}
	return nil
}

// ready says why the hub cannot do its work, by a code.
func (s *Server) ready(ctx context.Context) string {
	if err := s.keys.Reload(ctx); err != nil {
		s.log.Error("the hub is not ready", "err", err)
		return keyring.Reason(err)
	}
	if err := s.store.Probe(ctx); err != nil {
		s.log.Error("the hub is not ready", "err", err)
		return "commit"
	}
	return ""
}

// serveMetrics serves the metrics, and nothing else, until ctx is done.
func (s *Server) serveMetrics(ctx context.Context) {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", s.metrics.Handler())
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, ErrorLog: s.http.ErrorLog}
	stopped := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stopped()
	if err := server.Serve(s.watchers); err != nil && ctx.Err() == nil {
		s.log.Error("the metrics are served no more", "err", err)
	}
}

// collectGarbage removes what its Erase says is garbage, now and every hour.
func (s *Server) collectGarbage(ctx context.Context) {
	every := time.NewTicker(time.Hour)
	defer every.Stop()
	for {
		if _, err := s.store.Sweep(ctx, s.Hub.Now()); err != nil && ctx.Err() == nil {
			s.log.Error("garbage collection failed and is tried again", "err", err)
		}
		select {
		case <-every.C:
		case <-ctx.Done():
			return
		}
	}
}

// keysEvery is how often the hub's keys are read again: from SQLite that costs nothing, and so a rotation is known within
// the minute.
const keysEvery = time.Minute

// reloadKeys reads the hub's keys now and then, which another process may have rotated.
func (s *Server) reloadKeys(ctx context.Context) {
	every := time.NewTicker(keysEvery)
	defer every.Stop()
	for {
		select {
		case <-every.C:
		case <-ctx.Done():
			return
		}
		if err := s.keys.Reload(ctx); err != nil && ctx.Err() == nil {
			s.log.Error("the hub's keys were not read again and are tried again", "err", err)
		}
	}
}

// count has everything tell the metrics what it does.
func (s *Server) count() {
	m := s.metrics
	s.store.Observe = func(g sqlitestore.Group) { m.Group(g.Commits, g.Took) }
	s.clock.fired, s.clock.looked = m.Due, m.Sweep
	s.Hub.Observe = func(e hub.Event) {
		if e.Fresh {
			m.Submitted(string(e.Type))
			return
		}
		m.Ended(string(e.Type), string(e.Status))
	}
}

// counted is a Pusher whose attempts are counted.
type counted struct {
	hub.Pusher
	metrics *metrics.Metrics
	log     *slog.Logger
}

// Push makes the attempt, counts it, and logs one that failed.
func (c counted) Push(ctx context.Context, p hub.Push) hub.PushResult {
	began := time.Now()
	r := c.Pusher.Push(ctx, p)
	result := strconv.Itoa(r.Status)
	if r.Status == 0 {
		result = string(r.Failure)
	}
	c.metrics.Push(result, time.Since(began))
	if !r.Delivered() {
		c.log.WarnContext(ctx, "push failed", "id", p.MessageID, "attempt", p.Attempt, "result", result)
	}
	return r
}

package localhub

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/controlapi"
	"github.com/mash-hub/mash/pkg/httpapi"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/inbox"
	"github.com/mash-hub/mash/pkg/keyring"
	"github.com/mash-hub/mash/pkg/metrics"
	"github.com/mash-hub/mash/pkg/record"
	"github.com/mash-hub/mash/pkg/sqlitestore"
)

// Web is everything that a hub serves over HTTP.
type Web struct {
	Hub     *hub.Hub // of requests that name no tenant; nil where there are only tenants
	BaseURL string   // public address without a trailing slash
	Log     *slog.Logger

	// NewStore makes the stores of conformance tenants. Nil leaves the control API out.
	NewStore func() (record.Store, error)

	// Grace is hub.Settings.Grace of conformance tenants.
	Grace time.Duration

	// Stopping, when closed, ends every wait. Nil means never.
	Stopping <-chan struct{}

	// Draining, when closed, makes the hub say that it is not ready, since it is to end. Nil means never.
	Draining <-chan struct{}

	// Ready is that of httpapi.Server. Nil means always.
	Ready func(context.Context) (reason string)

	// Metrics counts requests. Nil counts nothing.
	Metrics *metrics.Metrics

	// ShowMetrics lets everybody who reaches the hub read them at /metrics.
	ShowMetrics bool

	// Command and Folder are what the pages say a person types: how to run mash, and the data folder that a command must
	// name. Empty ones mean mash, and that it finds the folder by itself.
	Command, Folder string
}

// MemoryStore makes the store that a conformance tenant stands on unless a test hands over another.
func MemoryStore() (record.Store, error) { return sqlitestore.OpenMemory() }

// Handler mounts /v1, the inbox and, where there may be tenants, the control API; and watches over all of it.
func (w Web) Handler() http.Handler { return watch(w.mount(), w.Metrics, w.Log) }

func (w Web) mount() http.Handler {
	control := &controlapi.Server{
		Ordinary: w.Hub, NewStore: w.NewStore, Log: w.Log,
		NewKeys: func() hub.Keys { return keyring.Ephemeral() },
		NewBell: func() hub.Bell { return &Bell{} },
		BaseURL: func() string { return w.BaseURL },
		Grace:   w.Grace,
	}
	api := &httpapi.Server{Hub: control.Hub, Log: w.Log, Stopping: w.Stopping, Draining: w.Draining, Ready: w.Ready}
	mux := http.NewServeMux()
	v1 := api.Handler()
	for _, path := range httpapi.Paths() {
		httpapi.Mount(mux, path, v1)
	}
	base := httpapi.BasePath(w.BaseURL)
	pages := inbox.New(inbox.Config{
		Hub: control.Hub, Log: w.Log, Secure: strings.HasPrefix(w.BaseURL, "https:"), Base: base, Stream: true,
		Stopping: w.Stopping, Command: w.Command, Folder: w.Folder,
	})
	mux.Handle("/", pages.NotFound(v1))
	for _, path := range inbox.Paths() {
		httpapi.Mount(mux, path, pages.Handler())
	}
	if w.ShowMetrics {
		mux.Handle("GET /metrics", w.Metrics.Handler())
	}
	if w.NewStore == nil {
		return httpapi.Unclean(httpapi.Below(base, mux), w.Log)
	}
	httpapi.Mount(mux, controlapi.Prefix, control.Handler())
	return control.Wrap(httpapi.Unclean(httpapi.Below(base, mux), w.Log))
}

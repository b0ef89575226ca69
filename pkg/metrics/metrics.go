// Package metrics counts what a hub does, and shows it as Prometheus reads it. Labels are names of endpoints, codes and types
// of messages: their number is bounded, and no id, title or text stands in one.
package metrics

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics is what is counted. Make one with New. It is safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry

	requests  *prometheus.HistogramVec
	inFlight  prometheus.Gauge
	submitted *prometheus.CounterVec
	ended     *prometheus.CounterVec
	pushes    *prometheus.CounterVec
	pushTook  prometheus.Histogram
	dueLag    prometheus.Histogram
	fired     *prometheus.CounterVec
	sweeps    *prometheus.CounterVec
	group     prometheus.Histogram
	groupTook prometheus.Histogram
}

// New returns metrics of a process of this version of Mash.
func New(version string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "mash_http_request_duration_seconds",
			Help:    "How long requests took, by endpoint (or the pattern of a page) and status. A pull that waits takes as long as it waits.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}, []string{"endpoint", "status"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "mash_http_requests_in_flight", Help: "Requests that are being answered, those that wait among them.",
		}),
		submitted: counter("mash_messages_submitted_total", "Messages that were accepted, replays apart, by type.", "type"),
		ended:     counter("mash_messages_ended_total", "Messages that have ended, by type and outcome.", "type", "outcome"),
		pushes:    counter("mash_push_attempts_total", "Attempts at callbacks, by the status of the answer or why there was none.", "result"),
		pushTook: histogram("mash_push_duration_seconds", "How long attempts at callbacks took.",
			[]float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}),
		dueLag: histogram("mash_due_lag_seconds", "How long after its time what is due was begun.",
			[]float64{.001, .005, .01, .05, .1, .5, 1, 5, 15, 60, 300, 3600}),
		fired:  counter("mash_due_total", "What was due and has been done, or failed and is tried again.", "result"),
		sweeps: counter("mash_sweeps_total", "Looks into the store for what is due.", "result"),
		group: histogram("mash_store_group_commits", "How many commits shared one sync of the database file.",
			[]float64{1, 2, 4, 8, 16, 32, 64, 128, 256}),
		groupTook: histogram("mash_store_group_duration_seconds", "How long one transaction took, its sync included.",
			[]float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .5, 1, 5}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "mash_build_info", Help: "1, with the version of Mash.", ConstLabels: prometheus.Labels{"version": version},
	})
	build.Set(1)
	m.registry.MustRegister(m.requests, m.inFlight, m.submitted, m.ended, m.pushes, m.pushTook, m.dueLag, m.fired, m.sweeps, m.group, m.groupTook,
		build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func histogram(name, help string, buckets []float64) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
}

// Handler answers with all of it, in the formats that Prometheus reads.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}

// Began counts a request that is to be answered, until Request says that it is.
func (m *Metrics) Began() { m.inFlight.Inc() }

// Request counts an answered request.
func (m *Metrics) Request(endpoint string, status int, took time.Duration) {
	m.inFlight.Dec()
	m.requests.WithLabelValues(endpoint, strconv.Itoa(status)).Observe(took.Seconds())
}

// Submitted counts a message that was accepted.
func (m *Metrics) Submitted(kind string) { m.submitted.WithLabelValues(kind).Inc() }

// Ended counts a message that has ended.
func (m *Metrics) Ended(kind, outcome string) { m.ended.WithLabelValues(kind, outcome).Inc() }

// Push counts an attempt at a callback. The result is a status, or a code for why there was none.
func (m *Metrics) Push(result string, took time.Duration) {
	m.pushes.WithLabelValues(result).Inc()
	m.pushTook.Observe(took.Seconds())
}

// Due counts something due that was begun so long after its time.
func (m *Metrics) Due(lag time.Duration, err error) {
	m.dueLag.Observe(max(lag, 0).Seconds())
	m.fired.WithLabelValues(result(err)).Inc()
}

// Sweep counts a look for what is due.
func (m *Metrics) Sweep(err error) { m.sweeps.WithLabelValues(result(err)).Inc() }

// Group counts commits that shared a transaction.
func (m *Metrics) Group(commits int, took time.Duration) {
	m.group.Observe(float64(commits))
	m.groupTook.Observe(took.Seconds())
}

func result(err error) string {
	if err != nil {
		return "failed"
	}
	return "done"
}

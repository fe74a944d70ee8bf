package server

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"touchstone/relay/hub"
	"touchstone/relay/recovery"
)

// metrics are the metrics of GET /metrics, in the names and units of
// https://prometheus.io/docs/practices/naming/.
type metrics struct {
	registry  *prometheus.Registry
	webhooks  *prometheus.CounterVec
	received  prometheus.Counter
	appends   prometheus.Histogram
	sent      prometheus.Counter
	recovered *prometheus.CounterVec
	missing   prometheus.Gauge
	passed    prometheus.Gauge
	followers followers
}

func newMetrics(events *hub.Hub) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		webhooks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "relay_webhooks_total",
			Help: "Webhooks by source and outcome: accepted, duplicate, or why they were refused.",
		}, []string{"source", "outcome"}),
		received: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "relay_webhook_bytes_total", Help: "Bytes of webhooks' bodies, refused ones included.",
		}),
		appends: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "relay_append_seconds", Help: "Time from a verified webhook to its event being durable.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}),
		sent: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "relay_stream_bytes_total", Help: "Bytes sent to subscribers.",
		}),
		recovered: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "relay_recovered_total", Help: "Missed deliveries that were brought in: redelivered with their signature, or fetched without.",
		}, []string{"how"}),
		missing: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "relay_recovery_missing", Help: "Deliveries that the last recovery could not bring in.",
		}),
		passed: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "relay_recovery_success_timestamp_seconds", Help: "When a recovery last compared every hook without a problem.",
		}),
		followers: followers{all: map[*follower]struct{}{}},
	}
	bound := func(name, help string, of func(hub.Bounds) int64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(of(events.Bounds())) })
	}
	m.registry.MustRegister(m.webhooks, m.received, m.appends, m.sent, m.recovered, m.missing, m.passed, &m.followers,
		bound("relay_log_head", "Number of the newest event.", func(b hub.Bounds) int64 { return b.Head }),
		bound("relay_log_floor", "Number of the last event that retention removed.", func(b hub.Bounds) int64 { return b.Floor }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "relay_damaged_events",
			Help: "Events that turned out damaged in the store since the relay started."},
			func() float64 { return float64(events.Damaged()) }),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) handler() http.HandlerFunc {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}).ServeHTTP
}

// outcomes are the meanings of the answers to webhooks.
var outcomes = map[int]string{
	http.StatusAccepted:              "accepted",
	http.StatusOK:                    "duplicate",
	http.StatusBadRequest:            "unreadable",
	http.StatusUnauthorized:          "unauthorized",
	http.StatusNotFound:              "unknown_source",
	http.StatusRequestTimeout:        "slow",
	http.StatusRequestEntityTooLarge: "too_large",
	http.StatusTooManyRequests:       "too_many",
	http.StatusServiceUnavailable:    "not_stored",
}

// countWebhooks counts the webhooks that next receives, and its answers.
func (s *Server) countWebhooks(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		answer := &answer{ResponseWriter: w}
		body := &countedBody{ReadCloser: r.Body}
		r.Body = body
		next(answer, r)
		name := r.PathValue("source")
		if _, known := s.config.Sources[name]; !known {
			name = "" // clients can request any name
		}
		s.metrics.webhooks.WithLabelValues(name, cmp.Or(outcomes[answer.status], strconv.Itoa(answer.status))).Inc()
		s.metrics.received.Add(float64(body.bytes))
	}
}

// answer records the status of a response.
type answer struct {
	http.ResponseWriter
	status int
}

func (a *answer) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

type countedBody struct {
	io.ReadCloser
	bytes int
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.bytes += n
	return n, err
}

// countedConnection counts the bytes that a subscriber is sent.
type countedConnection struct {
	connection
	sent prometheus.Counter
}

func (l countedConnection) write(ctx context.Context, pieces [][]byte) error {
	size := 0
	for _, piece := range pieces {
		size += len(piece)
	}
	err := l.connection.write(ctx, pieces)
	if err == nil {
		l.sent.Add(float64(size))
	}
	return err
}

// brought counts what a recovery brought in.
func (m *metrics) brought(report recovery.Report) {
	for _, h := range report.Hooks {
		m.recovered.WithLabelValues("redelivered").Add(float64(h.Redelivered))
		m.recovered.WithLabelValues("fetched").Add(float64(h.Fetched))
	}
}

// pass counts what a recovery did that went through all hooks.
func (m *metrics) pass(report recovery.Report) {
	m.brought(report)
	left, problem := 0, false
	for _, h := range report.Hooks {
		left += h.Left
		problem = problem || h.Problem != ""
	}
	m.missing.Set(float64(left))
	if !problem {
		m.passed.SetToCurrentTime()
	}
}

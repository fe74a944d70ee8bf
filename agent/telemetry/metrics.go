package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"touchstone/agent/journal"
)

// The metrics, in the names and units of https://prometheus.io/docs/practices/naming/. They
// are the process's own, as its memory is.
var (
	runs = counter("touchstone_agent_runs_total", "Turns of model sessions, by how they ended: ok or the error's class.",
		"engine", "model", "role", "outcome")
	tokens = counter("touchstone_agent_tokens_total",
		"Tokens by kind: input (neither from nor into the cache), cache_write, cache_read, output.",
		"engine", "model", "role", "kind")
	cost    = counter("touchstone_agent_cost_usd_total", "What the turns cost, in US dollars.", "engine", "model", "role")
	retries = counter("touchstone_agent_retries_total", "How often a model CLI asked its provider again.", "engine", "model", "role")
	seconds = histogram("touchstone_agent_run_seconds", "How long a turn took; turns of one act may run at the same time.",
		[]float64{1, 5, 15, 30, 60, 120, 300, 600, 1200, 1800}, "engine", "role")
	firstByte = histogram("touchstone_agent_first_byte_seconds", "Time from the start of a turn to its first output.",
		[]float64{.1, .25, .5, 1, 2.5, 5, 10, 30, 60}, "engine", "role")
	acts = counter("touchstone_agent_acts_total",
		"What was done to pull requests, by kind and by how it ended: ok, error, or the class of a model's.",
		"act", "outcome")
	actSeconds = histogram("touchstone_agent_act_seconds", "How long an act took, the model's time included.",
		[]float64{.1, .5, 1, 5, 15, 60, 300, 900, 1800, 3600}, "act")
	leftAlone = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "touchstone_agent_model_left_alone",
		Help: "1 from when a model did not answer until it answers again; the model all is every one of an engine, default its own choice.",
	}, []string{"engine", "model"})

	registry = func() *prometheus.Registry {
		r := prometheus.NewRegistry()
		r.MustRegister(runs, tokens, cost, retries, seconds, firstByte, acts, actSeconds, leftAlone,
			collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
		return r
	}()
)

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}

// observe counts a turn.
func observe(turn journal.Account, role, outcome string) {
	runs.WithLabelValues(turn.Engine, turn.Model, role, outcome).Inc()
	for kind, n := range map[string]int64{
		"input": turn.Usage.Input, "cache_write": turn.Usage.CacheWrite, "cache_read": turn.Usage.CacheRead, "output": turn.Usage.Output,
	} {
		tokens.WithLabelValues(turn.Engine, turn.Model, role, kind).Add(float64(max(0, n)))
	}
	cost.WithLabelValues(turn.Engine, turn.Model, role).Add(max(0, turn.CostUSD))
	retries.WithLabelValues(turn.Engine, turn.Model, role).Add(float64(max(0, turn.Retries)))
	seconds.WithLabelValues(turn.Engine, role).Observe(turn.Duration.Seconds())
	if turn.FirstByte > 0 {
		firstByte.WithLabelValues(turn.Engine, role).Observe(turn.FirstByte.Seconds())
	}
}

// LeftAlone shows whether a model of an engine is left alone, since it did not answer.
func LeftAlone(engine, model string, yes bool) {
	leftAlone.WithLabelValues(engine, bounded(model)).Set(map[bool]float64{true: 1}[yes])
}

// Serve answers GET /metrics on listener until the context ends, and closes it. It shows
// figures only, to every client that can connect.
func Serve(ctx context.Context, listener net.Listener) error {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	server := &http.Server{Handler: mux, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, MaxHeaderBytes: 1 << 14}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the metrics: %w", err)
	}
	return nil
}

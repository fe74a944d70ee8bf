package telemetry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
)

const (
	// lastWait bounds how long the end of the process waits for the collector.
	lastWait = 2 * time.Second
	// quiet is the least time between two complaints about it.
	quiet = 5 * time.Minute
	// maxQueue is how many spans wait for a collector that is away, maxBatch how many are sent
	// at once. The environment does not change them.
	maxQueue = 2048
	maxBatch = 512
)

// Export sends the process's spans to the collector that the environment names
// (OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, with the other
// variables of https://opentelemetry.io/docs/specs/otel/protocol/exporter/), over HTTP. It
// does nothing where none is named. Up to 2,048 spans wait for a collector that is away, and
// what is beyond is let go. The returned function, which is never nil, sends the last of them,
// for at most two seconds.
func Export(ctx context.Context, getenv func(string) string, version string) (func(), error) {
	if cmp.Or(getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), getenv("OTEL_EXPORTER_OTLP_ENDPOINT")) == "" ||
		getenv("OTEL_SDK_DISABLED") == "true" {
		return func() {}, nil
	}
	// What cannot be read in the variables it would print as it is, secrets included.
	otel.SetLogger(logr.Discard())
	otel.SetErrorHandler(complain(ctx))
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return func() {}, fmt.Errorf("none are sent to the collector that OTEL_EXPORTER_OTLP_ENDPOINT names: %w", err)
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "touchstone-agent"), attribute.String("service.version", version)),
		resource.WithFromEnv())
	if err != nil {
		// The rest of it is known all the same, and what is said of the variable holds its text.
		err = errors.New("OTEL_RESOURCE_ATTRIBUTES cannot be read; write key=value,key=value")
	}
	provider := trace.NewTracerProvider(trace.WithBatcher(exporter, trace.WithMaxQueueSize(maxQueue), trace.WithMaxExportBatchSize(maxBatch)),
		trace.WithResource(about))
	otel.SetTracerProvider(provider)
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWait)
		defer cancel()
		if err := provider.Shutdown(ctx); err != nil {
			otel.Handle(err)
		}
	}, err
}

// complain logs that the collector is away, now and then: no other thing is the worse for it.
func complain(ctx context.Context) otel.ErrorHandlerFunc {
	var mu sync.Mutex
	var last time.Time
	return func(err error) {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(last) > quiet {
			last = time.Now()
			zerolog.Ctx(ctx).Warn().Err(err).Msg("cannot send traces to their collector; some will be missing there; nothing else is affected")
		}
	}
}

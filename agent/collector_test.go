package main

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"touchstone/worktree/await"
)

// traces is an OTLP collector (https://opentelemetry.io/docs/specs/otlp/#otlphttp).
type traces struct {
	mu    sync.Mutex
	spans []*tracepb.Span
}

func (c *traces) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = unpacked
	}
	var sent collector.ExportTraceServiceRequest
	text, err := io.ReadAll(body)
	if err == nil {
		err = proto.Unmarshal(text, &sent)
	}
	if err != nil || r.URL.Path != "/v1/traces" {
		http.Error(w, fmt.Sprint(r.URL.Path, err), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range sent.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			c.spans = append(c.spans, scope.Spans...)
		}
	}
}

// tree prints the spans, each below its parent, in the order of their beginnings.
func (c *traces) tree() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.SortStableFunc(c.spans, func(a, b *tracepb.Span) int {
		return int(int64(a.StartTimeUnixNano) - int64(b.StartTimeUnixNano))
	})
	var out strings.Builder
	var below func(parent string, depth int)
	below = func(parent string, depth int) {
		for _, s := range c.spans {
			if string(s.ParentSpanId) == parent {
				fmt.Fprintf(&out, "%s%s%s\n", strings.Repeat("  ", depth), s.Name,
					map[bool]string{true: " failed"}[s.Status.GetCode() == tracepb.Status_STATUS_CODE_ERROR])
				below(string(s.SpanId), depth+1)
			}
		}
	}
	below("", 0)
	return out.String()
}

// collect has the agent send its traces to a collector: collect works|hangs|gone.
func collect(ts *testscript.TestScript, _ bool, args []string) {
	var handler http.Handler = &worldOf(ts).traces
	if args[0] == "hangs" {
		handler = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // only then is it seen that the agent is gone
			<-r.Context().Done()
		})
	}
	server := httptest.NewServer(handler)
	ts.Defer(server.Close)
	if args[0] == "gone" {
		server.Close()
	}
	ts.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
}

// traced wants the collector to hold a tree of spans: traced FILE.
func (w *world) traced(args []string) error {
	want, err := os.ReadFile(filepath.Join(w.work, args[0]))
	if got := w.traces.tree(); err == nil && got != string(want) {
		err = fmt.Errorf("the spans are\n%swant\n%s", got, want)
	}
	return err
}

// metered has the agent show its metrics on a port that is free, and that no system gives to
// somebody else meanwhile who asks for any.
func metered(ts *testscript.TestScript, _ bool, _ []string) {
	w := worldOf(ts)
	var free net.Listener
	err := error(syscall.EADDRINUSE)
	for errors.Is(err, syscall.EADDRINUSE) {
		free, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(20_000)))
	}
	ts.Check(err)
	w.metrics = free.Addr().String()
	ts.Check(free.Close())
	ts.Check(w.config([]string{"metrics: {listen: \"" + w.metrics + "\"}"}))
}

// shows waits until the metrics hold lines: shows FILE.
func (w *world) shows(args []string) error {
	want, err := os.ReadFile(filepath.Join(w.work, args[0]))
	if err != nil {
		return err
	}
	var got string
	err = await.Condition(w.Ctx, func() (bool, error) {
		response, err := http.Get("http://" + w.metrics + "/metrics")
		if err != nil {
			return false, err
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		got = string(text)
		for line := range strings.Lines(string(want)) {
			if !strings.Contains(got, "\n"+line) {
				return false, err
			}
		}
		return true, err
	})
	if err != nil {
		err = fmt.Errorf("the metrics are not as wanted but %s: %w", got, err)
	}
	return err
}

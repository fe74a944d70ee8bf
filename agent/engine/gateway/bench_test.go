package gateway_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"touchstone/agent/engine"
	"touchstone/agent/engine/gateway"
	"touchstone/agent/engine/usage"
)

// BenchmarkFirstByte measures the time to an answer's first byte, beside that
// without a gateway between: added-ms is the difference.
func BenchmarkFirstByte(b *testing.B) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "x") }))
	defer upstream.Close()
	measure(b, upstream.URL, func(elapsed, bare time.Duration) {
		b.ReportMetric(float64((elapsed-bare).Microseconds())/1000/float64(b.N), "added-ms")
	})
}

// BenchmarkCopy measures how fast a long stream of events passes, in MB/s.
func BenchmarkCopy(b *testing.B) {
	event := `data: {"type":"content_block_delta","delta":{"text":"` + strings.Repeat("word ", 200) + "\"}}\n\n"
	chunk := []byte(strings.Repeat(event, 1<<20/len(event)+1)[:1<<20])
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for range 64 {
			w.Write(chunk)
		}
	}))
	defer upstream.Close()
	measure(b, upstream.URL, func(elapsed, bare time.Duration) {
		rate := func(d time.Duration) float64 { return 64 * float64(b.N) / d.Seconds() }
		b.ReportMetric(rate(elapsed), "MB/s")
		b.ReportMetric(rate(bare), "bare-MB/s")
	})
}

func measure(b *testing.B, url string, report func(elapsed, bare time.Duration)) {
	g, err := gateway.Open(gateway.Provider{URL: url, Key: key}, usage.Open(engine.Request{}, nil))
	if err != nil {
		b.Fatal(err)
	}
	defer g.Close()
	g.Begin(func() {})
	prompt := `{"model":"model-1","input":"` + strings.Repeat("word ", 20<<10) + `"}`
	fetch := func(url string) time.Duration {
		started := time.Now()
		request, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url, strings.NewReader(prompt))
		if err != nil {
			b.Fatal(err)
		}
		request.Header.Set("X-Api-Key", g.Token)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			b.Fatal(err)
		}
		defer response.Body.Close()
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			b.Fatal(err)
		}
		return time.Since(started)
	}
	var elapsed, bare time.Duration
	for b.Loop() {
		elapsed += fetch(g.URL + "/messages")
		bare += fetch(url)
	}
	report(elapsed, bare)
}

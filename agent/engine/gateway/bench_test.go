package gateway_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"touchstone/agent/engine"
	"touchstone/agent/engine/usage"
)

// BenchmarkFirstByte measures the time to an answer's first byte, beside that
// without a gateway between: added-ms is the difference.
func BenchmarkFirstByte(b *testing.B) {
	url := serve(b, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "x") })
	measure(b, url, func(elapsed, bare time.Duration) {
		b.ReportMetric(float64((elapsed-bare).Microseconds())/1000/float64(b.N), "added-ms")
	})
}

// BenchmarkCopy measures how fast a long stream of events passes, in MB/s.
func BenchmarkCopy(b *testing.B) {
	event := `data: {"type":"content_block_delta","delta":{"text":"` + strings.Repeat("word ", 200) + "\"}}\n\n"
	chunk := []byte(strings.Repeat(event, 1<<20/len(event)+1)[:1<<20])
	url := serve(b, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for range 64 {
			w.Write(chunk)
		}
	})
	measure(b, url, func(elapsed, bare time.Duration) {
		rate := func(d time.Duration) float64 { return 64 * float64(b.N) / d.Seconds() }
		b.ReportMetric(rate(elapsed), "MB/s")
		b.ReportMetric(rate(bare), "bare-MB/s")
	})
}

func measure(b *testing.B, url string, report func(elapsed, bare time.Duration)) {
	g := openAt(b, url, usage.Open(engine.Request{}, nil))
	g.Begin(func() {})
	prompt := `{"model":"model-1","input":"` + strings.Repeat("word ", 20<<10) + `"}`
	fetch := func(url string) time.Duration {
		started := time.Now()
		response := send(b, http.MethodPost, url, prompt, "X-Api-Key", g.Token)
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

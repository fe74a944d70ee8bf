package server_test

import (
	"crypto/hmac"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"touchstone/relay/internal/examples"
	"touchstone/relay/server"
	"touchstone/relay/source/sourcetest"
)

// benchPayload is a webhook of 8 kB, a usual size.
var benchPayload = []byte(`{"action":"opened","repository":{"full_name":"acme/app"},"body":"` + strings.Repeat("x", 8000) + `"}`)

// discard is the baseline: an HTTP server that reads a webhook, verifies its signature and discards it.
func discard(b *testing.B) string {
	b.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || !hmac.Equal([]byte(r.Header.Get("X-Hub-Signature-256")), []byte(sourcetest.Signature(secret, body))) {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusAccepted)
	}))
	b.Cleanup(s.Close)
	return s.URL
}

// deliveries makes delivery ids that differ within one run of the benchmarks.
var deliveries atomic.Int64

func deliver(b *testing.B, sender *http.Client, address string) {
	b.Helper()
	id := fmt.Sprint(deliveries.Add(1))
	body := append([]byte(`{"id":`+id+`,`), benchPayload[1:]...)
	response, err := sender.Do(examples.Request(b, address, secret, "push", id, body))
	if err != nil {
		b.Error(err)
		return
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusAccepted {
		b.Errorf("answered %s, %v", response.Status, err)
	}
}

// report adds the median and the 99th percentile to a benchmark's figures.
func report(b *testing.B, times []time.Duration) {
	b.Helper()
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
}

// BenchmarkWebhookToSubscriber measures from sending a webhook until a subscriber has read its event:
// verified, on disk, encoded and streamed in between. The baseline is the time in which the discarding server
// answers.
func BenchmarkWebhookToSubscriber(b *testing.B) {
	b.Run("relay", func(b *testing.B) {
		r := start(b, server.Config{})
		stream := r.open(b, "", "")
		stream.next()
		var times []time.Duration
		for b.Loop() {
			begin := time.Now()
			answered := make(chan struct{})
			go func() {
				defer close(answered)
				deliver(b, http.DefaultClient, r.address)
			}()
			stream.next()
			times = append(times, time.Since(begin))
			<-answered
		}
		report(b, times)
	})
	b.Run("yardstick", func(b *testing.B) {
		address := discard(b)
		var times []time.Duration
		for b.Loop() {
			begin := time.Now()
			deliver(b, http.DefaultClient, address)
			times = append(times, time.Since(begin))
		}
		report(b, times)
	})
}

// BenchmarkIngest measures webhooks that are on disk when they are answered, from 32 senders at once, beside
// a server that discards them.
func BenchmarkIngest(b *testing.B) {
	for name, address := range map[string]func(*testing.B) string{
		"relay":     func(b *testing.B) string { return start(b, server.Config{}).address },
		"yardstick": discard,
	} {
		b.Run(name, func(b *testing.B) {
			to := address(b)
			sender := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
			defer sender.CloseIdleConnections()
			b.SetParallelism(max(1, 32/runtime.GOMAXPROCS(0))) // it multiplies by the processors
			begin := time.Now()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					deliver(b, sender, to)
				}
			})
			b.ReportMetric(float64(b.N)/time.Since(begin).Seconds(), "webhooks/s")
		})
	}
}

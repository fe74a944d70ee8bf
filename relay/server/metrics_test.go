package server_test

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"touchstone/relay/internal/examples"
	"touchstone/relay/server"
)

// metrics returns what /metrics shows, by name and labels.
func (r *relay) metrics(t *testing.T) map[string]string {
	t.Helper()
	response, err := http.Get(r.address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("the metrics were answered %s", response.Status)
	}
	shown := map[string]string{}
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), " "); ok && name != "#" {
			shown[name] = value
		}
	}
	return shown
}

func expectMetrics(t *testing.T, shown, want map[string]string) {
	t.Helper()
	for name, value := range want {
		if shown[name] != value {
			t.Errorf("%s is %q, want %q", name, shown[name], value)
		}
	}
}

func TestMetricsOfWebhooks(t *testing.T) {
	r := start(t, server.Config{})
	r.post(t, "one", `{"n":1}`)
	r.post(t, "two", `{"n":2}`)
	send(t, examples.Request(t, r.address, secret, "push", "two", []byte(`{"n":2}`)))
	send(t, examples.Request(t, r.address, "another", "push", "three", []byte(`{"n":3}`)))
	send(t, examples.Request(t, r.address, secret, "push", "four", []byte(`{`)))
	unknown := examples.Request(t, r.address, secret, "push", "five", []byte(`{}`))
	unknown.URL.Path = "/webhooks/anything"
	send(t, unknown)
	expectMetrics(t, r.metrics(t), map[string]string{
		`relay_webhooks_total{outcome="accepted",source="github"}`:     "2",
		`relay_webhooks_total{outcome="duplicate",source="github"}`:    "1",
		`relay_webhooks_total{outcome="unauthorized",source="github"}`: "1",
		`relay_webhooks_total{outcome="unreadable",source="github"}`:   "1",
		`relay_webhooks_total{outcome="unknown_source",source=""}`:     "1",
		`relay_webhook_bytes_total`:                                    "29",
		`relay_append_seconds_count`:                                   "2",
		`relay_log_head`:                                               "2",
		`relay_log_floor`:                                              "0",
	})
}

func TestMetricsOfSubscribers(t *testing.T) {
	r := start(t, server.Config{})
	r.post(t, "one", `{"n":1}`)
	expectMetrics(t, r.metrics(t), map[string]string{"relay_subscribers": "0", "relay_stream_bytes_total": "0"})
	f := r.open(t, "after=oldest", "")
	f.message()
	f.event()
	shown := r.metrics(t)
	expectMetrics(t, shown, map[string]string{"relay_subscribers": "1", `relay_subscriber_lag_events{name="",token=""}`: "0"})
	if shown["relay_stream_bytes_total"] == "0" {
		t.Error("the bytes sent to the subscriber are not counted")
	}
	f.response.Body.Close()
	for r.metrics(t)["relay_subscribers"] != "0" {
		if t.Context().Err() != nil {
			t.Fatal("the subscriber that is gone is still counted")
		}
	}
}

func TestRequestsHaveIDs(t *testing.T) {
	r := start(t, server.Config{})
	seen := map[string]bool{}
	for _, path := range []string{"/healthz", "/readyz", "/metrics", "/nothing", "/events", "/events"} {
		response, err := http.Get(r.address + path)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		id := response.Header.Get("X-Request-Id")
		if id == "" || seen[id] {
			t.Errorf("%s has the request id %q", path, id)
		}
		seen[id] = true
	}
}

func TestMetricsAreForOperators(t *testing.T) {
	r := start(t, server.Config{})
	request, err := http.NewRequest(http.MethodGet, r.address+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = "relay.example.com"
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode < 400 || bytes.Contains(body, []byte("relay_")) {
		t.Errorf("a stranger was answered %s, %v", response.Status, err)
	}
}

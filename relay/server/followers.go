package server

import (
	"cmp"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"touchstone/relay/hub"
	"touchstone/relay/token"
)

// maxLagSeries bounds the series of lags; beyond it, those furthest behind are shown.
const maxLagSeries = 100

// followers are the subscribers that are connected, and whose they are. It is the
// collector of how many there are and how far behind.
type followers struct {
	mu      sync.Mutex
	readers map[*hub.Reader]*token.Grant
}

// add counts a subscriber until the function that it returns is called.
func (f *followers) add(r *hub.Reader, grant *token.Grant) (leave func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.readers[r] = grant
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.readers, r)
	}
}

var (
	subscribers = prometheus.NewDesc("relay_subscribers", "Connected subscribers.", nil, nil)
	lag         = prometheus.NewDesc("relay_subscriber_lag_events",
		"Events that a token's slowest subscriber is behind; the furthest behind of all tokens, if there are many.", []string{"token", "name"},
		nil)
)

// Describe implements prometheus.Collector.
func (f *followers) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- subscribers
	descriptions <- lag
}

// behind is how far the slowest subscriber of a token is behind.
type behind struct {
	id, name string
	events   int64
}

// list is the tokens whose bearers follow the log, those furthest behind first.
func (f *followers) list() []behind {
	byToken := map[string]behind{}
	f.mu.Lock()
	for r, grant := range f.readers {
		byToken[grant.ID] = behind{grant.ID, grant.Name, max(r.Lag(), byToken[grant.ID].events)}
	}
	f.mu.Unlock()
	all := make([]behind, 0, len(byToken))
	for _, b := range byToken {
		all = append(all, b)
	}
	slices.SortFunc(all, func(a, b behind) int { return cmp.Or(cmp.Compare(b.events, a.events), cmp.Compare(a.id, b.id)) })
	return all
}

// Collect implements prometheus.Collector.
func (f *followers) Collect(values chan<- prometheus.Metric) {
	f.mu.Lock()
	count := len(f.readers)
	f.mu.Unlock()
	values <- prometheus.MustNewConstMetric(subscribers, prometheus.GaugeValue, float64(count))
	all := f.list()
	for _, b := range all[:min(len(all), maxLagSeries)] {
		values <- prometheus.MustNewConstMetric(lag, prometheus.GaugeValue, float64(b.events), b.id, b.name)
	}
}

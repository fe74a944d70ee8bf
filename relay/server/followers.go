package server

import (
	"cmp"
	"crypto/rand"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"touchstone/relay/hub"
	"touchstone/relay/token"
)

// maxLagSeries bounds the series of lags. If there are more, those furthest behind are shown.
const maxLagSeries = 100

// follower is one connected subscriber.
type follower struct {
	id     string // of this connection
	reader *hub.Reader
	grant  *token.Grant
	// remote is the subscriber's address, agent its User-Agent, since when it connected.
	remote, agent string
	since         time.Time
	// again has the numbers of the events to send to the subscriber once more. The events themselves would be memory
	// that nothing bounds.
	again chan int64
}

// maxAgain is how many events may wait to be sent to a subscriber again.
const maxAgain = 16

func newFollower(r *http.Request, reader *hub.Reader, grant *token.Grant) *follower {
	return &follower{
		id: rand.Text()[:8], reader: reader, grant: grant, remote: r.RemoteAddr, agent: r.UserAgent(), since: time.Now(),
		again: make(chan int64, maxAgain),
	}
}

// followers are the connected subscribers and their grants. It is also the Prometheus collector of their
// number and their lags.
type followers struct {
	mu  sync.Mutex
	all map[*follower]struct{}
}

// add counts a subscriber until leave is called.
func (f *followers) add(one *follower) (leave func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all[one] = struct{}{}
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.all, one)
	}
}

// of returns the subscribers that connected with a token, the oldest first.
func (f *followers) of(token string) []*follower {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []*follower
	for one := range f.all {
		if one.grant.ID == token {
			list = append(list, one)
		}
	}
	slices.SortFunc(list, func(a, b *follower) int { return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.id, b.id)) })
	return list
}

var (
	subscribers = prometheus.NewDesc("relay_subscribers", "Connected subscribers.", nil, nil)
	lag         = prometheus.NewDesc("relay_subscriber_lag_events",
		"Events that a token's slowest subscriber is behind. If there are many tokens, only those furthest behind are shown.",
		[]string{"token", "name"}, nil)
)

// Describe implements prometheus.Collector.
func (f *followers) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- subscribers
	descriptions <- lag
}

// behind is how many subscribers came with a token, and how far the slowest of them is behind.
type behind struct {
	id, name string
	streams  int
	events   int64
}

// list returns the tokens with connected subscribers, those furthest behind first.
func (f *followers) list() []behind {
	byToken := map[string]behind{}
	f.mu.Lock()
	for one := range f.all {
		grant, so := one.grant, byToken[one.grant.ID]
		byToken[grant.ID] = behind{grant.ID, grant.Name, so.streams + 1, max(one.reader.Lag(), so.events)}
	}
	f.mu.Unlock()
	return slices.SortedFunc(maps.Values(byToken), func(a, b behind) int {
		return cmp.Or(cmp.Compare(b.events, a.events), cmp.Compare(a.id, b.id))
	})
}

// Collect implements prometheus.Collector.
func (f *followers) Collect(values chan<- prometheus.Metric) {
	f.mu.Lock()
	count := len(f.all)
	f.mu.Unlock()
	values <- prometheus.MustNewConstMetric(subscribers, prometheus.GaugeValue, float64(count))
	all := f.list()
	for _, b := range all[:min(len(all), maxLagSeries)] {
		values <- prometheus.MustNewConstMetric(lag, prometheus.GaugeValue, float64(b.events), b.id, b.name)
	}
}

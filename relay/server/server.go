// Package server owns the relay's HTTP side: webhooks come in, event streams go out, and both keep to limits
// of time and memory. The stored data belongs to the hub's store.
package server

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	stdlog "log"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"touchstone/relay/event"
	"touchstone/relay/hub"
	"touchstone/relay/internal/faults"
	"touchstone/relay/recovery"
	"touchstone/relay/token"
)

// Limits that hold for every relay.
const (
	// MaxBodyBytes bounds a webhook's body: GitHub's 25 MB, and headroom.
	MaxBodyBytes = 26 << 20
	// maxBodiesBytes bounds the bodies of all webhooks that are arriving at one time.
	maxBodiesBytes = 128 << 20
	// maxHeadBytes bounds a request's head. Proxies add to it, but not much.
	maxHeadBytes = 16 << 10

	headerTimeout   = 10 * time.Second
	idleTimeout     = 2 * time.Minute
	shutdownTimeout = 8 * time.Second
	partTimeout     = 3 * time.Second
)

// Source verifies and describes the webhooks of one kind of sender. An error that wraps
// source.ErrUnauthorized is answered with 401, any other with 400 and its text.
type Source interface {
	Accept(name string, header http.Header, body []byte, at time.Time) (event.Event, error)
}

// Config is what a relay needs.
type Config struct {
	// Listener accepts the connections; Run closes it. Without access tokens it has to listen on a loopback
	// address.
	Listener net.Listener
	// TLS, if set, encrypts the connections; it brings the certificate.
	TLS *tls.Config
	// Tokens says who may read; nil means every client that reaches a loopback address.
	Tokens *token.Checker
	// Store keeps the log. The caller closes it after Run.
	Store hub.Store
	// Sources are the endpoints below /webhooks/, by name.
	Sources map[string]Source
	// Retention is how long events are kept; zero keeps them all.
	Retention time.Duration
	// PublicURL is the address under which others reach this relay, without a slash at its end; empty means
	// the address in each request.
	PublicURL string
	// TrustedProxies are the networks of the proxies in front of this relay. Their X-Forwarded-For counts
	// when the relay divides its room among senders; it never decides about access.
	TrustedProxies []netip.Prefix
	// Heartbeat is the time between two heartbeats on a stream; zero means 15 s.
	Heartbeat time.Duration
	// WriteTimeout is how long a subscriber may take to read what was sent before it is cut off; zero means
	// 30 s.
	WriteTimeout time.Duration
	// BodyTimeout is how long a sender may take to send a webhook's body; zero means 30 s.
	BodyTimeout time.Duration
	// Recovery says which webhooks to look after; without targets there is no recovery. New sets its Log and
	// Retention.
	Recovery recovery.Config
	// Page configures the page; nil means no page and no API for it.
	Page *Page
}

// Server is one relay.
type Server struct {
	config      Config
	hub         *hub.Hub
	bodies      *shares
	reads       reads
	arrivals    arrivals
	failures    failures
	recovery    *recovery.Recovery   // nil without hooks to look after
	lastPass    atomic.Pointer[pass] // of the recovery; nil before the first pass
	page        *page                // nil without a page
	sealer      *sealer              // of sessions; nil without a page
	appSecrets  *appSecrets
	connections *connections
	metrics     *metrics
	stopping    chan struct{}

	// faults are logged once a minute rather than for each webhook or reader, unreadable and replayed webhooks ten times.
	// The metrics count all webhooks.
	faults               faults.Log
	unreadable, replayed zerolog.BurstSampler
}

// New creates a relay over a store. Without access tokens it refuses a listener that other machines can
// reach, with ErrUnprotected.
func New(ctx context.Context, config Config) (*Server, error) {
	if config.Tokens == nil {
		config.Tokens = &token.Checker{}
	}
	if err := checkAddress(config.Listener.Addr(), config.Tokens); err != nil {
		return nil, err
	}
	config.Heartbeat = cmp.Or(config.Heartbeat, 15*time.Second)
	config.WriteTimeout = cmp.Or(config.WriteTimeout, 30*time.Second)
	config.BodyTimeout = cmp.Or(config.BodyTimeout, 30*time.Second)
	events, err := hub.New(ctx, config.Store, config.Retention)
	if err != nil {
		return nil, err
	}
	missed, err := newRecovery(config, events)
	if err != nil {
		return nil, err
	}
	s := &Server{
		config:      config,
		hub:         events,
		recovery:    missed,
		bodies:      newShares(maxBodiesBytes, bodyGrace),
		reads:       newReads(),
		arrivals:    arrivals{under: map[*http.ResponseController]struct{}{}},
		appSecrets:  &appSecrets{notes: config.Store, known: map[string]string{}, looked: map[string]time.Time{}},
		connections: newConnections(),
		metrics:     newMetrics(events),
		stopping:    make(chan struct{}),

		unreadable: zerolog.BurstSampler{Burst: 10, Period: time.Minute},
		replayed:   zerolog.BurstSampler{Burst: 10, Period: time.Minute},
	}
	for name := range config.Sources {
		if _, err := s.appSecrets.look(ctx, name, ""); err != nil {
			return nil, err
		}
	}
	if config.Page != nil {
		if s.sealer, err = newSealer(ctx, config.Store); err != nil {
			return nil, err
		}
		if s.page, err = newPage(ctx, s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Run serves until ctx ends. Then it answers the webhooks that are arriving, ends the streams, and returns
// nil; connections that do not end in time are cut. It can run once.
func (s *Server) Run(ctx context.Context) error {
	log := zerolog.Ctx(ctx)
	// Requests outlive ctx, which ends when the relay begins to stop.
	requests := context.WithoutCancel(ctx)
	server := &http.Server{
		Handler:           s.routes(),
		BaseContext:       func(net.Listener) context.Context { return requests },
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeadBytes,
		ConnContext:       remember,
		TLSConfig:         weighed(watched(s.config.TLS)),
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: streamsOfConnection, MaxReceiveBufferPerConnection: unreadBytes, MaxReceiveBufferPerStream: unreadBytes,
		},
		ErrorLog: stdlog.New(newReports(*log), "", 0),
	}
	hubCtx, stopHub := context.WithCancel(requests)
	defer stopHub()
	recoveryCtx, stopRecovery := context.WithCancel(ctx)
	defer stopRecovery()
	var group errgroup.Group
	group.Go(func() error { return s.hub.Run(hubCtx) })
	group.Go(func() error { return s.config.Tokens.Run(hubCtx) })
	group.Go(func() error { return s.runRecovery(recoveryCtx) })
	group.Go(func() error { return s.page.run(hubCtx) })
	group.Go(func() error {
		// The hub stops last: webhooks that are still arriving need it.
		defer stopHub()
		defer stopRecovery()
		return s.serve(ctx, server)
	})
	return group.Wait()
}

func (s *Server) serve(ctx context.Context, server *http.Server) error {
	failed := make(chan error, 1)
	listener := newGuests(s.config.Listener)
	go func() {
		if s.config.TLS != nil {
			failed <- server.ServeTLS(listener, "", "")
			return
		}
		failed <- server.Serve(listener)
	}()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	close(s.stopping)
	s.arrivals.hurry(partTimeout)
	deadline, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	// A subscriber that does not even read the end is cut off.
	late := time.AfterFunc(partTimeout, s.connections.cut)
	defer late.Stop()
	err := server.Shutdown(deadline)
	if errors.Is(err, context.DeadlineExceeded) {
		// Any stranger can hold a connection open, so this is not an error of the relay.
		zerolog.Ctx(ctx).Warn().Stringer("after", shutdownTimeout).Msg("closing connections that did not end in time")
		err = server.Close()
	}
	s.connections.drain()
	<-failed // http.ErrServerClosed, since Shutdown was called
	return err
}

func (s *Server) isStopping() bool {
	select {
	case <-s.stopping:
		return true
	default:
		return false
	}
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /webhooks/{source}", s.countWebhooks(s.takeWebhook))
	mux.HandleFunc("GET /events", s.readers(s.streamEvents))
	mux.HandleFunc("GET /control", s.readers(s.showSettings))
	mux.HandleFunc("PATCH /control", s.brief(s.admins(s.patchSettings)))
	mux.HandleFunc("POST /api/v1/join", s.brief(s.join))
	mux.HandleFunc("POST /api/v1/join/look", s.brief(s.lookJoin))
	mux.HandleFunc("GET /join", s.explainJoin)
	mux.HandleFunc("GET /api/v1/sources", s.admins(s.listAppSources))
	mux.HandleFunc("PUT /api/v1/sources/{source}/app-secret", s.brief(s.admins(s.takeAppSecret)))
	mux.HandleFunc("POST /recover", s.operators(s.recoverNow))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	mux.HandleFunc("GET /readyz", s.readiness)
	mux.HandleFunc("GET /metrics", s.operators(s.metrics.handler()))
	if s.page != nil {
		s.pageRoutes(mux)
	}
	return boundAnswers(identified(likeTheAPI(mux)))
}

// readiness answers whether a webhook could be stored and a cursor be served.
func (s *Server) readiness(w http.ResponseWriter, r *http.Request) {
	if err := s.hub.Ready(r.Context()); err != nil {
		s.faults.Answering(r.Context(), err, "not ready: cannot reach the store or write to it")
		refuse(w, http.StatusServiceUnavailable, "the relay cannot reach the store or write to it; see the relay's log")
		return
	}
	// Damage is no reason to refuse webhooks, which can still be stored.
	answer := struct {
		Status  string `json:"status"`
		Damaged int64  `json:"damaged_events,omitempty"`
	}{"ready", s.hub.Damaged()}
	reply(w, http.StatusOK, answer)
}

// reports logs what net/http reports.
type reports struct{ faults, strangers zerolog.Logger }

// newReports logs at most ten lines a minute about connections, such as failed handshakes, since any client can cause more,
// and as many about what fails in the relay, which those must not hide.
func newReports(log zerolog.Logger) reports {
	kind := func(level string) zerolog.Logger {
		return log.With().Str(zerolog.LevelFieldName, level).Logger().Sample(&zerolog.BurstSampler{Burst: 10, Period: time.Minute})
	}
	return reports{kind(zerolog.LevelErrorValue), kind(zerolog.LevelWarnValue)}
}

// Write implements io.Writer.
func (r reports) Write(line []byte) (int, error) {
	for _, fault := range []string{"http: Accept error", "http: panic serving", "http2: panic serving"} {
		if bytes.HasPrefix(line, []byte(fault)) {
			return r.faults.Write(line)
		}
	}
	return r.strangers.Write(line)
}

// identified gives each request an id, for its log lines and its answer.
func identified(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := rand.Text()[:12]
		w.Header().Set("X-Request-Id", id)
		log := zerolog.Ctx(r.Context()).With().Str("request", id).Logger()
		next.ServeHTTP(w, r.WithContext(log.WithContext(r.Context())))
	})
}

package server

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"touchstone/relay/dashboard"
	"touchstone/relay/event"
	"touchstone/relay/hub"
	"touchstone/relay/recovery"
)

// recoveryLog is the log as recovery needs it. It appends events through the hub, so that subscribers see
// them.
type recoveryLog struct {
	hub.Store
	hub *hub.Hub
}

// Append implements recovery.Log.
func (l recoveryLog) Append(ctx context.Context, e event.Event) (event.Cursor, bool, error) {
	id, appended, err := l.hub.Append(ctx, e)
	return id, appended.Duplicate, err
}

// newRecovery creates the recovery if there are hooks to look after.
func newRecovery(config Config, events *hub.Hub) (*recovery.Recovery, error) {
	if len(config.Recovery.Targets) == 0 {
		return nil, nil
	}
	config.Recovery.Log = recoveryLog{config.Store, events}
	config.Recovery.Retention = config.Retention
	return recovery.New(config.Recovery)
}

// runRecovery looks after the hooks until ctx ends.
func (s *Server) runRecovery(ctx context.Context) error {
	if s.recovery == nil {
		return nil
	}
	return s.recovery.Run(ctx, s.passed)
}

// passed records what the last pass found and did, for the metrics and the page.
func (s *Server) passed(report recovery.Report) {
	s.metrics.pass(report)
	s.lastPass.Store(&pass{time.Now().UTC(), report})
}

// pass is one pass of the recovery.
type pass struct {
	at     time.Time
	report recovery.Report
}

// hooks returns the webhooks that the relay looks after, as the last pass found them.
func (s *Server) hooks() (list []dashboard.Hook) {
	last := s.lastPass.Load()
	if last == nil {
		for _, target := range s.config.Recovery.Targets {
			list = append(list, dashboard.Hook{Name: target.String(), Target: target.String()})
		}
		return list
	}
	for _, h := range last.report.Hooks {
		list = append(list, dashboard.Hook{
			Name: h.Hook, Target: h.Target, Compared: last.at, Since: h.Since, Gap: h.OutOfReach, Missing: h.Missing,
			Recovered: h.Redelivered + h.Fetched, Left: h.Left, Problem: h.Problem,
		})
	}
	return list
}

// recoverNow makes a pass of the recovery at once and answers with its report.
func (s *Server) recoverNow(w http.ResponseWriter, r *http.Request) {
	if s.recovery == nil {
		refuse(w, http.StatusNotFound, "this relay recovers no deliveries: start it with --recover, such as --recover acme/app")
		return
	}
	var watch sync.WaitGroup
	defer watch.Wait()
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	watch.Go(func() {
		select {
		case <-s.stopping:
			cancel(errStopping)
		case <-ctx.Done():
		}
	})
	zerolog.Ctx(ctx).Info().Str("remote", r.RemoteAddr).Msg("recovery asked for")
	report, err := s.recovery.Pass(ctx)
	switch {
	case errors.Is(err, errStopping):
		refuse(w, http.StatusServiceUnavailable, errStopping.Error())
		return
	case r.Context().Err() != nil:
		// Its report leaves out hooks, perhaps all of them, or blames them for the hang-up.
		s.metrics.brought(report)
		zerolog.Ctx(ctx).Warn().Msg("recovery cut off: the client disconnected; the relay's own next pass brings in the rest")
		return
	}
	s.passed(report)
	reply(w, http.StatusOK, report)
}

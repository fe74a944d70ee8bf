package server

import (
	"context"
	"net/http"
	"time"

	"touchstone/relay/event"
	"touchstone/relay/token"
)

// streamChanges sends an open page the id of the newest change within its scope, and of each newer change
// when it happens, in frames with only an id, at most two a second.
func (s *Server) streamChanges(w http.ResponseWriter, r *http.Request, grant *token.Grant) {
	s.connections.serve(w, r, s.config.WriteTimeout, func(ctx context.Context, c connection) {
		ctx, release := grant.Context(ctx)
		defer release()
		defer cutWith(ctx, c)()
		s.tellChanges(ctx, c, grant.Scope())
	})
}

// tellChanges returns when the page is closed, its token is revoked or the relay stops.
func (s *Server) tellChanges(ctx context.Context, c connection, scope event.Filter) {
	watch := s.page.Watch(scope)
	defer watch.Close()
	heartbeat := time.NewTicker(s.config.Heartbeat)
	defer heartbeat.Stop()
	at, moved := watch.At()
	for frame := event.AppendMove(nil, at); c.write(ctx, [][]byte{frame}) == nil; {
		select {
		case <-s.stopping:
			return
		case <-ctx.Done():
			return
		case <-heartbeat.C:
			frame = []byte(": heartbeat\n\n")
		case <-moved:
			at, moved = watch.At()
			frame = event.AppendMove(nil, at)
		}
	}
}

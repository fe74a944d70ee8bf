package server

import (
	"context"
	"errors"
	"net/http"
	"time"

	"touchstone/relay/dashboard"
	"touchstone/relay/event"
	"touchstone/relay/hub"
)

const (
	// maxReadsBytes bounds the memory of the answers that show one whole event, as maxBodiesBytes does for the
	// webhooks that are arriving.
	maxReadsBytes = 128 << 20
	// copiesOfRead is how often such an answer may hold the payload: as read, as JSON and compressed.
	copiesOfRead = 3
	// maxReading is how many events are read from the store at a time, of which one network reads at most all but one:
	// who asks for many keeps nobody else waiting. How much memory one takes is known only when it is read.
	maxReading = 4
)

// reads bounds what reading single events takes. Streams are bounded by the hub.
type reads struct {
	room    *shares
	reading chan struct{} // holds as many as read now
}

func newReads() reads {
	return reads{newShares(maxReadsBytes, bodyGrace), make(chan struct{}, maxReading)}
}

// Event implements dashboard.Relay.
func (s inside) Event(w http.ResponseWriter, r *http.Request, viewer dashboard.Viewer, at event.Cursor) (e event.Event, release func(),
	err error) {
	if bounds := s.hub.Bounds(); at.Log != bounds.Log || at.Seq <= bounds.Floor || at.Seq > bounds.Head {
		return e, nil, dashboard.ErrNoEvent
	}
	control := http.NewResponseController(w)
	// If setting the deadline fails, the connection is gone.
	claim := s.reads.room.enter(s.sender(r), func() { _ = control.SetWriteDeadline(time.Now()) })
	if e, err = s.readEvent(r.Context(), claim, at.Seq); err == nil && !e.IsSettings() && !viewer.Scope.Match(e) {
		err = dashboard.ErrNoEvent
	}
	if err != nil {
		claim.leave()
		return event.Event{}, nil, err
	}
	return e, claim.leave, nil
}

// readEvent reads an event into the room of a claim.
func (s inside) readEvent(ctx context.Context, claim *claim, seq int64) (event.Event, error) {
	for _, reading := range []chan struct{}{claim.holder.reading, s.reads.reading} {
		select {
		case reading <- struct{}{}:
			defer func() { <-reading }()
		case <-ctx.Done():
			return event.Event{}, context.Cause(ctx)
		}
	}
	events, err := s.config.Store.Read(ctx, seq-1, 1, 1)
	switch {
	case errors.As(err, new(*hub.Damage)) || err == nil && (len(events) == 0 || events[0].ID.Seq != seq):
		return event.Event{}, dashboard.ErrNoEvent
	case err != nil:
		return event.Event{}, err
	case !claim.take(copiesOfRead*int64(len(events[0].Payload)) + bodyOverhead):
		return event.Event{}, dashboard.ErrNoRoom
	}
	return events[0], nil
}

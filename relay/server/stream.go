package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/rs/zerolog"

	"touchstone/relay/event"
	"touchstone/relay/hub"
	"touchstone/relay/internal/segment"
	"touchstone/relay/token"
)

// maxSkipped is how many events a filter may leave out before the subscriber is sent a new position. It
// bounds what is searched again when the subscriber reconnects.
const maxSkipped = 1000

// streamEvents sends the log from the subscriber's cursor on, and then new events: those within the
// subscriber's scope that match its filter.
func (s *Server) streamEvents(w http.ResponseWriter, r *http.Request, grant *token.Grant) {
	// URL.Query would leave out what it cannot read: a part of the filter, or the position.
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		refuse(w, http.StatusBadRequest, fmt.Sprintf("the query cannot be read: %v; join parameters with & and write a %% in them as %%25", err))
		return
	}
	filter, err := event.ParseFilter(query)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	begin, ok := s.begin(w, r)
	if !ok {
		return
	}
	w.Header().Set("Vary", "Accept-Encoding")
	compressed := acceptsGzip(r.Header.Values("Accept-Encoding"))
	if compressed {
		w.Header().Set("Content-Encoding", "gzip")
	}
	remote := r.RemoteAddr
	s.connections.serve(w, r, s.config.WriteTimeout, func(ctx context.Context, c connection) {
		ctx, drop := context.WithCancelCause(ctx)
		defer drop(nil)
		ctx, release := grant.Context(ctx)
		defer release()
		log := zerolog.Ctx(ctx)
		log.Info().Str("remote", remote).Stringer("after", begin.at).Bool("gzip", compressed).Msg("subscriber connected")
		sub := &stream{
			server: s, reader: s.hub.NewReader(begin.at.Seq, filter, grant.Scope()), at: begin.at, told: begin.at,
			connection: countedConnection{c, s.metrics.sent}, compressed: compressed, settings: begin.settings,
		}
		sub.reader.Drop = func() { drop(errSlow) }
		defer sub.reader.Close()
		known := newFollower(r, sub.reader, grant)
		sub.again = known.again
		defer s.metrics.followers.add(known)()
		err := sub.serve(ctx, begin.reset)
		if cause := context.Cause(ctx); cause != nil {
			err = cause // the error of an interrupted write does not say why it was interrupted
		} else if errors.Is(err, os.ErrDeadlineExceeded) {
			err = fmt.Errorf("it did not read what was sent to it within %s", s.config.WriteTimeout)
		}
		if errors.Is(err, context.Canceled) {
			err = errHungUp // all other ends of a stream have a cause
		}
		log.Info().Str("remote", remote).AnErr("cause", err).Stringer("at", sub.at).Msg("subscriber gone")
	})
}

// beginning is where a subscriber begins, and the settings to begin with.
type beginning struct {
	at       event.Cursor
	reset    *event.Reset
	settings event.Settings
}

// begin returns a subscriber's beginning, or answers the request with a refusal.
func (s *Server) begin(w http.ResponseWriter, r *http.Request) (b beginning, ok bool) {
	after := cmp.Or(r.Header.Get("Last-Event-ID"), r.URL.Query().Get("after"))
	var err error
	if b.at, b.reset, err = position(after, s.hub.Bounds()); err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return b, false
	}
	if b.reset != nil && b.reset.Reason == beyondHead {
		// Another relay of the same log may have issued the cursor.
		bounds, err := s.hub.Refresh(r.Context())
		if err != nil {
			s.refuseReader(w, r, err)
			return b, false
		}
		b.at, b.reset, _ = position(after, bounds)
	}
	if b.settings, err = s.hub.Settings(r.Context()); err != nil {
		s.refuseReader(w, r, err)
		return b, false
	}
	return b, true
}

// refuseReader answers a request that needs the store while the store cannot be reached.
func (s *Server) refuseReader(w http.ResponseWriter, r *http.Request, err error) {
	log := zerolog.Ctx(r.Context()).With().Str("path", r.URL.Path).Logger()
	s.faults.Answering(log.WithContext(r.Context()), err, "request refused: cannot reach the store")
	w.Header().Set("Retry-After", retryAfter)
	refuse(w, http.StatusServiceUnavailable, "the relay cannot reach the store; see the relay's log")
}

// beyondHead is the reason of a reset for a cursor that this log has not reached.
const beyondHead = "beyond head"

// position returns where a subscriber begins: at the cursor or, with a reset, before the oldest event if the
// cursor is not valid in this log.
func position(after string, b hub.Bounds) (event.Cursor, *event.Reset, error) {
	oldest := event.Cursor{Log: b.Log, Seq: b.Floor}
	switch after {
	case "", "now":
		return event.Cursor{Log: b.Log, Seq: b.Head}, nil, nil
	case "oldest":
		return oldest, nil, nil
	}
	cursor, err := event.ParseCursor(after)
	switch {
	case err != nil:
		return event.Cursor{}, nil, fmt.Errorf("invalid position: %w; or write oldest or now", err)
	case cursor.Log != b.Log:
		return oldest, &event.Reset{Log: b.Log, Reason: "unknown log"}, nil
	case cursor.Seq > b.Head:
		return oldest, &event.Reset{Log: b.Log, Reason: beyondHead}, nil
	}
	return cursor, nil, nil
}

// stream is one subscriber: a position in the log and a connection to write to.
type stream struct {
	server     *Server
	reader     *hub.Reader
	at         event.Cursor // the log has been sent or skipped up to here
	told       event.Cursor // the last id sent to the subscriber
	connection connection
	compressed bool
	sum        segment.Sum    // of the compressed bytes that were sent
	settings   event.Settings // those that were sent last, or are about to be
	again      <-chan int64
}

// serve sends until the subscriber hangs up, its token is revoked, the relay stops, or something fails.
func (s *stream) serve(ctx context.Context, reset *event.Reset) error {
	defer cutWith(ctx, s.connection)()
	if err := s.greet(ctx, reset); err != nil {
		return err
	}
	return s.follow(ctx)
}

// cutWith cuts waiting writes when ctx ends, until the caller calls the returned function.
func cutWith(ctx context.Context, c connection) func() {
	cut := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(cut)
		c.cut()
	})
	return func() {
		if !stop() {
			<-cut
		}
	}
}

// follow sends the log after the position, and then new events.
func (s *stream) follow(ctx context.Context) error {
	heartbeat := time.NewTicker(s.server.config.Heartbeat)
	defer heartbeat.Stop()
	for {
		more, err := s.advance(ctx)
		if err != nil {
			return err
		}
		// If there is more to send, only look at the other events; otherwise wait.
		wake := s.reader.Wake()
		if more {
			wake = closed
		}
		select {
		case <-s.server.stopping:
			return errors.Join(errStopping, s.part(ctx))
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-heartbeat.C:
			err = s.beat(ctx)
		case seq := <-s.again:
			err = s.repeat(ctx, seq)
		case <-wake:
		}
		if err != nil {
			return err
		}
	}
}

var (
	errStopping = errors.New("the relay is stopping")
	errHungUp   = errors.New("the client disconnected")
	errSlow     = errors.New("it reads too slowly while memory is short")
)

// closed is a wake-up for a stream that has more to read.
var closed = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// greet sends how soon to reconnect and where the stream begins, so that a subscriber that asked for "now"
// and loses the connection before the first event knows its position. Then it sends the settings in force,
// which every subscriber gets.
func (s *stream) greet(ctx context.Context, reset *event.Reset) error {
	frame := event.AppendMove([]byte("retry: 1000\n"), s.told)
	if reset != nil {
		var err error
		if frame, err = reset.AppendFrame([]byte("retry: 1000\n"), s.at); err != nil {
			return err
		}
	}
	if !s.settings.ID.IsZero() {
		var err error
		if frame, err = s.settings.AppendFrame(frame, s.at); err != nil {
			return err
		}
	}
	if s.compressed {
		return s.connection.write(ctx, [][]byte{segment.Header, s.own(frame)})
	}
	return s.connection.write(ctx, [][]byte{frame})
}

// part sends the subscriber its position and when to reconnect. The time is random, so that not all come back
// at once.
func (s *stream) part(ctx context.Context) error {
	s.told = s.at
	retry := fmt.Appendf(nil, "retry: %d\n", 1000+rand.IntN(2000))
	pieces := [][]byte{s.own(event.AppendMove(retry, s.at))}
	if s.compressed {
		pieces = append(pieces, s.sum.Trailer())
	}
	return s.connection.write(ctx, pieces)
}

// advance sends the next piece of the log and reports whether there is more.
func (s *stream) advance(ctx context.Context) (more bool, err error) {
	batch, err := s.reader.Next(ctx)
	if err != nil {
		return false, err
	}
	defer s.reader.Release()
	pieces := make([][]byte, 0, len(batch.Entries)+2)
	if batch.GoneThrough > s.at.Seq {
		frame, err := s.gap(batch).AppendFrame(nil)
		if err != nil {
			return false, err
		}
		s.told.Seq = batch.GoneThrough
		pieces = append(pieces, s.own(frame))
	}
	for _, entry := range batch.Entries {
		if entry.IsSettings() {
			if entry.ID.Seq <= s.settings.ID.Seq {
				continue // older than the settings that were sent first
			}
			s.settings.ID = entry.ID
		}
		piece, err := s.event(entry)
		if err != nil {
			return false, err
		}
		s.told = entry.ID
		pieces = append(pieces, piece)
	}
	s.at.Seq = batch.Through
	if s.at.Seq-s.told.Seq >= maxSkipped {
		s.told = s.at
		pieces = append(pieces, s.own(event.AppendMove(nil, s.at)))
	}
	return batch.More, s.connection.write(ctx, pieces)
}

// event returns an event in this stream's encoding.
func (s *stream) event(entry *hub.Entry) ([]byte, error) {
	if !s.compressed {
		return entry.Frame()
	}
	piece, err := entry.Segment()
	s.sum.Add(piece)
	return piece.Bytes, err
}

// own returns a small frame of the stream itself in this stream's encoding.
func (s *stream) own(frame []byte) []byte {
	if !s.compressed {
		return frame
	}
	piece := segment.Store(frame)
	s.sum.Add(piece)
	return piece.Bytes
}

// repeat sends an event once more, and after it the subscriber's position, so that every client processes the
// event and resumes where it was. It leaves out an event that the log no longer holds.
func (s *stream) repeat(ctx context.Context, seq int64) error {
	// A client that ends after the event resumes there, so send everything before it first.
	for more := true; more && s.at.Seq < seq; {
		var err error
		if more, err = s.advance(ctx); err != nil {
			return err
		}
	}
	entry, err := s.reader.Again(ctx, seq)
	if entry == nil || err != nil {
		return err
	}
	defer s.reader.Release()
	piece, err := s.event(entry)
	if err != nil {
		return err
	}
	return s.connection.write(ctx, [][]byte{piece, s.own(event.AppendMove(nil, s.told))})
}

func (s *stream) gap(batch hub.Batch) event.Gap {
	reason := event.GapRetention
	if batch.Damaged {
		reason = event.GapDamaged
	}
	return event.Gap{
		From:   event.Cursor{Log: s.at.Log, Seq: s.at.Seq + 1},
		To:     event.Cursor{Log: s.at.Log, Seq: batch.GoneThrough},
		Reason: reason,
	}
}

// beat shows that the connection is alive, and sends the position if the filter left events out.
func (s *stream) beat(ctx context.Context) error {
	if _, err := s.advance(ctx); err != nil {
		return err
	}
	frame := []byte(": heartbeat\n\n")
	if s.told != s.at {
		s.told = s.at
		frame = event.AppendMove(nil, s.at)
	}
	return s.connection.write(ctx, [][]byte{s.own(frame)})
}

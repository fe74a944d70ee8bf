package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"touchstone/relay/event"
	"touchstone/relay/hub"
)

// maxSkipped is how many events a filter may leave out before the subscriber is told
// how far the log has moved. It bounds what a reconnecting subscriber is searched again.
const maxSkipped = 1000

// streamEvents sends the log from the subscriber's cursor on, and then what comes: of
// what is within the subscriber's scope, what its filter lets through.
func (s *Server) streamEvents(w http.ResponseWriter, r *http.Request, scope event.Filter) {
	filter, err := event.ParseFilter(r.URL.Query())
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	after := r.Header.Get("Last-Event-ID")
	if after == "" {
		after = r.URL.Query().Get("after")
	}
	from, reset, err := position(after, s.hub.Bounds())
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-cache")
	header.Set("X-Accel-Buffering", "no")

	log := zerolog.Ctx(r.Context()).With().Str("remote", r.RemoteAddr).Logger()
	log.Info().Stringer("after", from).Msg("subscriber connected")
	sub := &stream{
		server: s, reader: s.hub.NewReader(from.Seq, filter, scope), at: from, told: from,
		over: r.Context().Done(), out: w, control: http.NewResponseController(w),
	}
	defer sub.reader.Close()
	err = sub.run(r, reset)
	log.Info().AnErr("cause", err).Stringer("at", sub.at).Msg("subscriber gone")
}

// position finds where a subscriber begins: the place after the cursor, which is the
// reset's when the cursor means nothing in this log.
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
		return event.Cursor{}, nil, fmt.Errorf("the position cannot be read: %w; or write oldest or now", err)
	case cursor.Log != b.Log:
		return oldest, &event.Reset{Log: b.Log, Reason: "unknown log"}, nil
	case cursor.Seq > b.Head:
		return oldest, &event.Reset{Log: b.Log, Reason: "beyond head"}, nil
	}
	return cursor, nil, nil
}

// stream is one subscriber: a position in the log and a connection to write to.
type stream struct {
	server  *Server
	reader  *hub.Reader
	at      event.Cursor // up to here the log has been sent or left out
	told    event.Cursor // the last id the subscriber was sent
	over    <-chan struct{}
	out     http.ResponseWriter
	control *http.ResponseController
}

// run sends until the subscriber goes, the relay stops, or something fails.
func (s *stream) run(r *http.Request, reset *event.Reset) error {
	if err := s.greet(reset); err != nil {
		return err
	}
	heartbeat := time.NewTicker(s.server.config.Heartbeat)
	defer heartbeat.Stop()
	for {
		batch, err := s.reader.Next(r.Context())
		if err != nil {
			return err
		}
		if err := s.send(batch); err != nil {
			return err
		}
		// With more to come this only looks; else it waits.
		wake := s.reader.Wake()
		if batch.More {
			wake = closed
		}
		select {
		case <-s.server.stopping:
			return errors.Join(errStopping, s.move())
		case <-r.Context().Done():
			return context.Cause(r.Context())
		case <-heartbeat.C:
			err = s.beat(r.Context())
		case <-wake:
		}
		if err != nil {
			return err
		}
	}
}

var (
	errStopping = errors.New("the relay is stopping")
	errOver     = errors.New("the request is over")
)

// closed is a wake-up for a stream that has more to read.
var closed = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// greet tells how soon to reconnect and where the stream begins, so that a subscriber
// that asked for "now" and loses the connection before the first event knows its place.
func (s *stream) greet(reset *event.Reset) error {
	frame := event.AppendMove([]byte("retry: 1000\n"), s.told)
	if reset != nil {
		var err error
		if frame, err = reset.AppendFrame([]byte("retry: 1000\n"), s.at); err != nil {
			return err
		}
	}
	return s.write(frame)
}

// send sends what the filter lets through and moves past the rest.
func (s *stream) send(batch hub.Batch) error {
	var frames [][]byte
	if batch.GoneThrough > s.at.Seq {
		frame, err := s.gap(batch.GoneThrough).AppendFrame(nil)
		if err != nil {
			return err
		}
		s.told.Seq = batch.GoneThrough
		frames = append(frames, frame)
	}
	for _, entry := range batch.Entries {
		frame, err := entry.Frame()
		if err != nil {
			return err
		}
		s.told = entry.ID
		frames = append(frames, frame)
	}
	s.at.Seq = batch.Through
	if s.at.Seq-s.told.Seq >= maxSkipped {
		s.told = s.at
		frames = append(frames, event.AppendMove(nil, s.at))
	}
	return s.write(frames...)
}

func (s *stream) gap(through int64) event.Gap {
	return event.Gap{
		From:   event.Cursor{Log: s.at.Log, Seq: s.at.Seq + 1},
		To:     event.Cursor{Log: s.at.Log, Seq: through},
		Reason: "retention",
	}
}

// beat shows that the connection lives, and where the log is if the filter left events out.
func (s *stream) beat(ctx context.Context) error {
	batch, err := s.reader.Next(ctx)
	if err != nil {
		return err
	}
	if err := s.send(batch); err != nil {
		return err
	}
	if s.told != s.at {
		return s.move()
	}
	return s.write([]byte(": heartbeat\n\n"))
}

// move tells the subscriber its position if that is news.
func (s *stream) move() error {
	if s.told == s.at {
		return nil
	}
	s.told = s.at
	return s.write(event.AppendMove(nil, s.at))
}

// writeChunk is how much a subscriber has to read within one WriteTimeout. Larger
// frames get that time again for each chunk, so that a slow line can carry them.
const writeChunk = 256 << 10

// write sends frames within the time a subscriber has to read them.
func (s *stream) write(frames ...[]byte) error {
	if len(frames) == 0 {
		return nil
	}
	for _, frame := range frames {
		for chunk := range slices.Chunk(frame, writeChunk) {
			if err := s.extend(); err != nil {
				return err
			}
			if _, err := s.out.Write(chunk); err != nil {
				return fmt.Errorf("write to subscriber: %w", err)
			}
		}
	}
	if err := s.extend(); err != nil {
		return err
	}
	if err := s.control.Flush(); err != nil {
		return fmt.Errorf("write to subscriber: %w", err)
	}
	return nil
}

// extend gives the subscriber another WriteTimeout from now.
func (s *stream) extend() error {
	if err := s.control.SetWriteDeadline(time.Now().Add(s.server.config.WriteTimeout)); err != nil {
		return fmt.Errorf("limit the time to write: %w", err)
	}
	// Whoever ends the request then ends the time to write, see readers: this comes
	// after setting it, so that one of the two takes effect.
	select {
	case <-s.over:
		return errOver
	default:
		return nil
	}
}

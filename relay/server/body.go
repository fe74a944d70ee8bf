package server

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

const (
	// firstRoom is the room for a body before its first byte arrives. Most webhooks are no larger, and
	// firstRoom for each of maxGuests silent senders fits into maxBodiesBytes.
	firstRoom = 12 << 10
	// bodyOverhead is the memory that a webhook under way takes in addition to its body.
	bodyOverhead = 8 << 10
	// bodyGrace is how long a body is safe from other networks that want as much memory.
	bodyGrace = 5 * time.Second
	// briefTimeout is how long a request other than a webhook may take to send its body.
	briefTimeout = 10 * time.Second
)

// errNoRoom refuses a body that would exceed the memory for bodies.
var errNoRoom = errors.New("too many webhooks at once")

// arrivals are the bodies that are arriving. A relay that is stopping waits less long for them.
type arrivals struct {
	mu     sync.Mutex
	latest time.Time // set when the relay stops: no body is waited for after this time
	under  map[*http.ResponseController]struct{}
}

// begin gives a body its time to arrive. The caller calls end when the body is read.
func (a *arrivals) begin(w http.ResponseWriter, timeout time.Duration) (end func(), err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	control, deadline := http.NewResponseController(w), time.Now().Add(timeout)
	if !a.latest.IsZero() && a.latest.Before(deadline) {
		deadline = a.latest
	}
	if err := control.SetReadDeadline(deadline); err != nil {
		return nil, fmt.Errorf("limit the time to read: %w", err)
	}
	a.under[control] = struct{}{}
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.under, control)
	}, nil
}

// brief passes on a request whose small body has to arrive within briefTimeout.
func (s *Server) brief(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		end, err := s.arrivals.begin(w, briefTimeout)
		if err != nil {
			s.refuseBody(w, err)
			return
		}
		defer end()
		next(w, r)
	}
}

// hurry limits the time for all bodies, including those that begin later, to rest.
func (a *arrivals) hurry(rest time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.latest = time.Now().Add(rest)
	for control := range a.under {
		_ = control.SetReadDeadline(a.latest) // if it fails, the connection is gone
	}
}

// readBody reads the whole body within the limits of size and room. The room grows with what has arrived: a
// sender that announces much and sends nothing takes no room from the others.
func readBody(w http.ResponseWriter, r *http.Request, room *claim) ([]byte, error) {
	reader := http.MaxBytesReader(w, r.Body, MaxBodyBytes)
	limit := r.ContentLength
	if limit < 0 {
		limit = MaxBodyBytes + 1 // one more, to see that the body is too large
	}
	var body []byte
	for size := min(firstRoom, limit); ; size = min(4*size, limit) {
		if !room.take(size + bodyOverhead) {
			return nil, errNoRoom
		}
		body = append(make([]byte, 0, size), body...)
		n, err := io.ReadFull(reader, body[len(body):size])
		body = body[:len(body)+n]
		switch {
		case r.ContentLength < 0 && (err == io.EOF || err == io.ErrUnexpectedEOF):
			return body, nil
		case err != nil && room.wasLost():
			return nil, errNoRoom
		case err != nil:
			return nil, err
		case int64(len(body)) == r.ContentLength:
			return body, nil
		}
	}
}

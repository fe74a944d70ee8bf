package server

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// firstRoom is what a body gets to begin with; nearly all webhooks fit.
const firstRoom = 64 << 10

// errNoRoom refuses a body that would be more than the relay holds at one time.
var errNoRoom = errors.New("too many webhooks at once")

// room is what one body takes of the memory for all of them. It grows with what has
// come: a sender that announces much and sends nothing takes nothing from the others.
type room struct {
	all   *semaphore.Weighted
	taken int64
}

// grow moves a body into a larger buffer.
func (r *room) grow(body []byte, size int64) ([]byte, error) {
	if !r.all.TryAcquire(size) {
		return nil, errNoRoom
	}
	grown := append(make([]byte, 0, size), body...)
	r.all.Release(r.taken)
	r.taken = size
	return grown, nil
}

func (r *room) leave() { r.all.Release(r.taken) }

// arrivals are the bodies that are on their way. A relay that stops does not wait for
// them as long as one that goes on.
type arrivals struct {
	mu     sync.Mutex
	latest time.Time // set when the relay stops: later, no body is waited for
	under  map[*http.ResponseController]struct{}
}

// begin gives a body its time, until the function that it returns is called.
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

// hurry leaves all bodies, and those that are still begun, this much time.
func (a *arrivals) hurry(rest time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.latest = time.Now().Add(rest)
	for control := range a.under {
		_ = control.SetReadDeadline(a.latest) // if it fails, the connection is gone
	}
}

// readBody reads the whole body within the limits of size and room.
func readBody(w http.ResponseWriter, r *http.Request, room *room) ([]byte, error) {
	reader := http.MaxBytesReader(w, r.Body, MaxBodyBytes)
	limit := r.ContentLength
	if limit < 0 {
		limit = MaxBodyBytes + 1 // one more, to see that it is too large
	}
	var body []byte
	for size := min(firstRoom, limit); ; size = min(2*size, limit) {
		var err error
		if body, err = room.grow(body, size); err != nil {
			return nil, err
		}
		n, err := io.ReadFull(reader, body[len(body):size])
		body = body[:len(body)+n]
		switch {
		case r.ContentLength < 0 && (err == io.EOF || err == io.ErrUnexpectedEOF):
			return body, nil
		case err != nil:
			return nil, err
		case int64(len(body)) == r.ContentLength:
			return body, nil
		}
	}
}

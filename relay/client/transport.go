package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"touchstone/relay/event"
)

// transport makes one connection and hardens it: the connection ends if the relay is silent for too long, and
// the reader gets only whole frames.
type transport struct {
	idle   time.Duration
	cancel context.CancelCauseFunc
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	silence := time.AfterFunc(t.idle, func() {
		t.cancel(fmt.Errorf("the relay sent nothing for %s", t.idle))
	})
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.DisableKeepAlives = true // the connection is for this one request
	response, err := base.RoundTrip(r)
	if err != nil {
		silence.Stop()
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		// A short body, for which the timer keeps running. After it, a redirect leads to a request with its own timer.
		response.Body = &timedBody{response.Body, silence}
		return response, nil
	}
	silence.Stop()
	response.Body = &frameReader{body: response.Body, idle: t.idle, silence: silence}
	return response, nil
}

// timedBody stops a timer when it is closed.
type timedBody struct {
	io.ReadCloser
	timer *time.Timer
}

// Close closes the body.
func (b *timedBody) Close() error {
	b.timer.Stop()
	return b.ReadCloser.Close()
}

var frameEnd = []byte("\n\n")

// errCut is returned in place of the rest of an incomplete frame.
var errCut = errors.New("the connection was lost in the middle of a message")

// frameReader releases an event stream frame by frame. The SSE standard says that an unfinished frame at the
// end of a stream is discarded
// (https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation); the library
// that reads from a frameReader would deliver it.
type frameReader struct {
	body    io.ReadCloser
	idle    time.Duration
	silence *time.Timer

	pending []byte // read, but not released
	whole   int    // how many bytes of pending are whole frames
	err     error  // why the body ended
}

// Read releases bytes of whole frames only.
func (r *frameReader) Read(p []byte) (int, error) {
	for r.whole == 0 {
		if r.err != nil {
			return 0, r.end()
		}
		if len(r.pending) > event.MaxFrameBytes {
			return 0, fmt.Errorf("a message is larger than %d bytes", event.MaxFrameBytes)
		}
		r.fill()
	}
	n := copy(p, r.pending[:r.whole])
	r.pending = r.pending[n:]
	r.whole -= n
	return n, nil
}

// fill reads once from the connection, which may be silent for at most the idle time. The timer runs only
// during a read: a slow handler does not mean a dead relay.
func (r *frameReader) fill() {
	const step = 32 << 10
	searched := max(0, len(r.pending)-len(frameEnd)+1)
	start := len(r.pending)
	r.pending = append(r.pending, make([]byte, step)...)
	r.silence.Reset(r.idle)
	n, err := r.body.Read(r.pending[start:])
	r.silence.Stop()
	r.pending, r.err = r.pending[:start+n], err
	if end := bytes.LastIndex(r.pending[searched:], frameEnd); end >= 0 {
		r.whole = searched + end + len(frameEnd)
	}
}

// end returns how the stream ended, once all whole frames are released.
func (r *frameReader) end() error {
	if r.err == io.EOF && len(r.pending) > 0 {
		return errCut
	}
	return r.err
}

// Close closes the connection.
func (r *frameReader) Close() error {
	r.silence.Stop()
	return r.body.Close()
}

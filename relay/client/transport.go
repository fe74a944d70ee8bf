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

// transport makes one connection and hardens it: it ends when the relay is silent for
// too long, and the reader gets whole frames only.
type transport struct {
	idle   time.Duration
	cancel context.CancelCauseFunc
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	silence := time.AfterFunc(t.idle, func() {
		t.cancel(fmt.Errorf("the relay was silent for %s", t.idle))
	})
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.DisableKeepAlives = true // one request is all this connection is for
	response, err := base.RoundTrip(r)
	if err != nil {
		silence.Stop()
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return response, nil // a short text, for which the time runs on
	}
	silence.Stop()
	response.Body = &frameReader{body: response.Body, idle: t.idle, silence: silence}
	return response, nil
}

var frameEnd = []byte("\n\n")

// errCut is returned in place of the rest of a frame that did not come whole.
var errCut = errors.New("the connection was cut in the middle of a message")

// frameReader releases an event stream frame by frame. The SSE standard says that an
// unfinished frame at the end of a stream is discarded
// (https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation);
// the library behind this reader would deliver it.
type frameReader struct {
	body    io.ReadCloser
	idle    time.Duration
	silence *time.Timer

	pending []byte // read, not released
	whole   int    // how much of pending are whole frames
	err     error  // what ended the body
}

// Read releases what has come of whole frames.
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

// fill reads once from the connection, which may be silent for the idle time at most.
// Time counts only during a read: a slow handler is not a dead relay.
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

// end says how the stream ended once all whole frames are released.
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

package server

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// Bounds of HTTP/2, where one connection carries many requests: each may open 100 streams, the
// least that RFC 9113, section 6.5.2, recommends, and be sent so many bytes that no handler has read.
const (
	streamsOfConnection = 100
	unreadBytes         = 128 << 10
	// maxStreams bounds the requests by HTTP/2 that are under way, but for subscribers'. Each
	// costs some 24 kB.
	maxStreams = 4096
	// answerTimeout is how long a peer may take to let an answer through: its flow control
	// can hold back even the smallest.
	answerTimeout = 10 * time.Second
)

// streamKey is where a request's context has its claim on a stream.
type streamKey struct{}

// boundStreams bounds the requests by HTTP/2 by networks: when there are too many, a new one ends the
// oldest of the network that has most.
func (s *Server) boundStreams(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor < 2 {
			next.ServeHTTP(w, r)
			return
		}
		stream := &boundStream{control: http.NewResponseController(w)}
		claim := s.streams.enter(s.sender(r), func() { go stream.reset() })
		defer claim.leave()
		if !claim.take(1) {
			panic(http.ErrAbortHandler) // resets the stream, which flow control does not hold back
		}
		defer stream.end()
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), streamKey{}, claim)))
		// What net/http would do after the claim is left. An error means that the peer does not get the answer.
		if stream.control.SetWriteDeadline(time.Now().Add(answerTimeout)) == nil {
			_ = stream.control.Flush()
		}
	})
}

// boundStream is a request's stream, which can be reset until its handler returns.
type boundStream struct {
	mu      sync.Mutex
	ended   bool
	control *http.ResponseController
}

// reset ends the request, wherever it waits for its peer.
func (b *boundStream) reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.ended {
		_ = b.control.SetReadDeadline(time.Now()) // if it fails, the connection is gone
		_ = b.control.SetWriteDeadline(time.Now())
	}
}

func (b *boundStream) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
}

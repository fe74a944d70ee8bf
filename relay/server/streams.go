package server

import (
	"net/http"
	"time"
)

// Bounds of HTTP/2, where one connection carries many requests: how many requests it may have open at one
// time, and how many bytes it may send that no handler has read. RFC 9113, section 6.5.2, recommends at least
// 100 streams, so as not to limit parallelism unnecessarily; the relay's page needs few.
const (
	streamsOfConnection = 32
	unreadBytes         = 128 << 10
	// answerTimeout is how long a peer may take to accept an answer: its flow control can hold back even the
	// smallest.
	answerTimeout = 10 * time.Second
)

// boundAnswers ends HTTP/2 requests whose answers are not accepted in time.
func boundAnswers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r)
		if r.ProtoMajor < 2 {
			return
		}
		// net/http would flush next, without a time limit. An error means that the peer does not get the
		// answer.
		if control := http.NewResponseController(w); control.SetWriteDeadline(time.Now().Add(answerTimeout)) == nil {
			_ = control.Flush()
		}
	})
}

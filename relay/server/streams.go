package server

import (
	"net/http"
	"time"
)

// Bounds of HTTP/2, where one connection carries many requests: each may open so many at one time, and be sent so many
// bytes that no handler has read. RFC 9113, section 6.5.2, recommends 100 streams or more, so that much can be asked at one
// time; a page of the relay's asks for few.
const (
	streamsOfConnection = 32
	unreadBytes         = 128 << 10
	// answerTimeout is how long a peer may take to let an answer through: its flow control
	// can hold back even the smallest.
	answerTimeout = 10 * time.Second
)

// boundAnswers ends requests by HTTP/2 whose answers are not let through in time.
func boundAnswers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r)
		if r.ProtoMajor < 2 {
			return
		}
		// What net/http would do next, without a bound. An error means that the peer does not get the answer.
		if control := http.NewResponseController(w); control.SetWriteDeadline(time.Now().Add(answerTimeout)) == nil {
			_ = control.Flush()
		}
	})
}

package enginetest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// sse writes the events of one streamed answer. It ignores write errors: if the client is gone, the request's
// context ends.
type sse struct {
	w        io.Writer
	flush    *http.ResponseController
	gone     <-chan struct{}
	interval time.Duration
	model    string
	// sealed says that the client wants reasoning in an encrypted form that it can send back.
	sealed bool
	hang   func()
}

// send writes an event with its name in the field "type", as in the Messages and the Responses API.
func (s *sse) send(event string, fields map[string]any) {
	fields["type"] = event
	fmt.Fprintf(s.w, "event: %s\n", event)
	s.data(fields)
}

// data writes an event without a name.
func (s *sse) data(fields any) {
	data, err := json.Marshal(fields)
	if err != nil {
		panic(fmt.Sprintf("event of the script: %v", err))
	}
	fmt.Fprintf(s.w, "data: %s\n\n", data)
	_ = s.flush.Flush()
}

// pause waits before a delta.
func (s *sse) pause() {
	select {
	case <-time.After(s.interval):
	case <-s.gone:
	}
}

// pieces calls write for each piece of a turn's text, and cuts the connection where the turn says so.
func (s *sse) pieces(turn Turn, write func(piece string)) {
	for _, piece := range turn.Text {
		s.pause()
		write(piece)
		if turn.Cut {
			panic(http.ErrAbortHandler)
		}
	}
}

// arguments is a tool's input as JSON.
func arguments(turn Turn) string {
	data, err := json.Marshal(turn.Input)
	if err != nil {
		panic(fmt.Sprintf("tool input of the script: %v", err))
	}
	return string(data)
}

var ids atomic.Int64

// newID makes an id in the form of the APIs' ids.
func newID(prefix string) string { return prefix + "_" + strconv.FormatInt(ids.Add(1), 10) }

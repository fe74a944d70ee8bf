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

// sse writes the events of one streamed answer. A client that is gone shows
// in the request's context, so its write errors are not looked at.
type sse struct {
	w        io.Writer
	flush    *http.ResponseController
	gone     <-chan struct{}
	interval time.Duration
	model    string
	// sealed says that the client wants to have reasoning as what it can give back.
	sealed bool
	hang   func()
}

// send writes an event with its name in the field "type", as both the Messages
// and the Responses API have it.
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

// pieces gives each piece of a turn's text to write, and cuts or hangs where the
// turn says so.
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

// newID makes an identifier of the kind that APIs give.
func newID(prefix string) string { return prefix + "_" + strconv.FormatInt(ids.Add(1), 10) }

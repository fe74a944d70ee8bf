// Package enginetest stands in for what engines need of the outside: a model
// provider on loopback that plays a script, and the real CLIs. For tests only.
package enginetest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"
)

// Turn is the provider's answer to one request.
type Turn struct {
	// Text is streamed as one text block, a piece per delta.
	Text []string
	// Tool, if named, is called after the text.
	Tool string
	// Input is the tool's input.
	Input map[string]any
	// Stop is the stop reason; empty is "tool_use" with a Tool, else "end_turn".
	Stop string

	// Status, unless zero or 200, refuses the request with Type and Message.
	Status        int
	Type, Message string
	// RetryAfter is sent with a refusal if not zero, in seconds.
	RetryAfter time.Duration

	// Hang says where the answer stops coming without the connection ending.
	Hang HangPoint
	// Cut breaks the connection after the first text delta.
	Cut bool
	// Think streams this many thinking deltas before the text.
	Think int
	// Interval is waited before each delta.
	Interval time.Duration
}

// HangPoint is where a Turn hangs until the client goes away.
type HangPoint string

const (
	// HangBefore sends nothing at all.
	HangBefore HangPoint = "before"
	// HangMid sends the beginning of the answer.
	HangMid HangPoint = "mid"
)

// Call is one request the provider received.
type Call struct {
	Header http.Header
	Body   []byte
}

// Provider speaks the streaming Messages API on loopback
// (https://docs.anthropic.com/en/api/messages-streaming).
type Provider struct {
	URL string

	answer func(n int, call Call) Turn
	mu     sync.Mutex
	calls  []Call
	done   chan struct{}
}

// NewProvider starts a provider that answers each request with the next Turn;
// the last one repeats. It ends with the test.
func NewProvider(t testing.TB, turns ...Turn) *Provider {
	t.Helper()
	return NewThinker(t, func(n int, _ Call) Turn { return turns[min(n, len(turns)-1)] })
}

// NewThinker starts a provider whose answer to the n-th request, from 0, is
// decided by a function, one request at a time. It ends with the test.
func NewThinker(t testing.TB, answer func(n int, call Call) Turn) *Provider {
	t.Helper()
	p := &Provider{answer: answer, done: make(chan struct{})}
	server := httptest.NewServer(http.HandlerFunc(p.serve))
	p.URL = server.URL
	t.Cleanup(func() {
		close(p.done)
		server.CloseClientConnections()
		server.Close()
	})
	return p
}

// Calls returns the requests received until now.
func (p *Provider) Calls() []Call {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Call(nil), p.calls...)
}

func (p *Provider) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/v1/messages" || r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<20))
	if err != nil {
		http.Error(w, "unreadable request", http.StatusBadRequest)
		return
	}
	turn := p.next(Call{Header: r.Header.Clone(), Body: body})
	if turn.Hang == HangBefore {
		p.hang(r)
		return
	}
	if turn.Status != 0 && turn.Status != http.StatusOK {
		refuse(w, turn)
		return
	}
	p.stream(w, r, body, turn)
}

func (p *Provider) next(call Call) Turn {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, call)
	return p.answer(len(p.calls)-1, call)
}

func (p *Provider) hang(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-p.done:
	}
}

func refuse(w http.ResponseWriter, turn Turn) {
	if turn.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(turn.RetryAfter.Seconds())))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(turn.Status)
	// The client may be gone; then nobody is left to tell.
	_ = json.NewEncoder(w).Encode(map[string]any{
		"type":  "error",
		"error": map[string]string{"type": turn.Type, "message": turn.Message},
	})
}

func (p *Provider) stream(w http.ResponseWriter, r *http.Request, body []byte, turn Turn) {
	var request struct {
		Model string `json:"model"`
	}
	if err := json.Unmarshal(body, &request); err != nil {
		http.Error(w, "request is not JSON", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	s := &sse{w: w, flush: http.NewResponseController(w), gone: r.Context().Done(), interval: turn.Interval}
	s.send("message_start", map[string]any{"message": map[string]any{
		"id": "msg_" + strconv.FormatInt(time.Now().UnixNano(), 36), "type": "message", "role": "assistant",
		"model": request.Model, "content": []any{}, "stop_reason": nil, "stop_sequence": nil,
		"usage": map[string]int{"input_tokens": 100, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 3000, "output_tokens": 1},
	}})
	index := 0
	if turn.Think > 0 {
		s.block(index, map[string]any{"type": "thinking", "thinking": "", "signature": ""}, func() {
			for range turn.Think {
				s.delta(index, map[string]any{"type": "thinking_delta", "thinking": "hm "})
			}
			s.delta(index, map[string]any{"type": "signature_delta", "signature": "c2ln"})
		})
		index++
	}
	if turn.Hang == HangMid {
		p.hang(r)
		return
	}
	if len(turn.Text) > 0 {
		s.block(index, map[string]any{"type": "text", "text": ""}, func() {
			for _, piece := range turn.Text {
				s.delta(index, map[string]any{"type": "text_delta", "text": piece})
				if turn.Cut {
					panic(http.ErrAbortHandler)
				}
			}
		})
		index++
	}
	stop := "end_turn"
	if turn.Tool != "" {
		stop = "tool_use"
		input, err := json.Marshal(turn.Input)
		if err != nil {
			panic(fmt.Sprintf("tool input of the script: %v", err))
		}
		s.block(index, map[string]any{"type": "tool_use", "id": "toolu_" + strconv.FormatInt(time.Now().UnixNano(), 36), "name": turn.Tool, "input": map[string]any{}}, func() {
			s.delta(index, map[string]any{"type": "input_json_delta", "partial_json": string(input)})
		})
	}
	if turn.Stop != "" {
		stop = turn.Stop
	}
	s.send("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": map[string]int{"output_tokens": 50},
	})
	s.send("message_stop", map[string]any{})
}

// sse writes the events of one streamed message. A client that is gone shows
// in the request's context, so its write errors are not looked at.
type sse struct {
	w        io.Writer
	flush    *http.ResponseController
	gone     <-chan struct{}
	interval time.Duration
}

func (s *sse) send(event string, fields map[string]any) {
	fields["type"] = event
	data, err := json.Marshal(fields)
	if err != nil {
		panic(fmt.Sprintf("event of the script: %v", err))
	}
	fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", event, data)
	_ = s.flush.Flush()
}

func (s *sse) block(index int, start map[string]any, deltas func()) {
	s.send("content_block_start", map[string]any{"index": index, "content_block": start})
	deltas()
	s.send("content_block_stop", map[string]any{"index": index})
}

func (s *sse) delta(index int, delta map[string]any) {
	select {
	case <-time.After(s.interval):
	case <-s.gone:
	}
	s.send("content_block_delta", map[string]any{"index": index, "delta": delta})
}

package standin

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// stream is an answer of the API, as Server-Sent Events
// (https://docs.anthropic.com/en/api/messages-streaming).
type stream struct {
	out   http.ResponseWriter
	index int
}

func newStream(w http.ResponseWriter, model string, tokens int) *stream {
	w.Header().Set("Content-Type", "text/event-stream")
	s := &stream{out: w}
	s.event("message_start", map[string]any{"type": "message_start", "message": map[string]any{
		"id": "msg_" + rand.Text(), "type": "message", "role": "assistant", "model": model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil,
		"usage": map[string]int{"input_tokens": tokens, "output_tokens": 1, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0},
	}})
	return s
}

func (s *stream) event(name string, data any) {
	text, err := json.Marshal(data)
	if err != nil {
		return // what is sent is made here, and can be encoded
	}
	fmt.Fprintf(s.out, "event: %s\ndata: %s\n\n", name, text)
	_ = http.NewResponseController(s.out).Flush() // if it fails, the CLI has gone
}

// send writes an answer to its end and returns how many tools it calls.
func (s *stream) send(answer string) (tools int) {
	var text []string
	var calls [][2]string
	for line := range strings.Lines(answer) {
		rest, call := strings.CutPrefix(line, "TOOL ")
		name, input, ok := strings.Cut(strings.TrimSpace(rest), " ")
		if call && ok && json.Valid([]byte(input)) {
			calls = append(calls, [2]string{name, input})
			continue
		}
		text = append(text, line)
	}
	if said := strings.TrimSpace(strings.Join(text, "")); said != "" || len(calls) == 0 {
		s.block(map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": said})
	}
	for _, call := range calls {
		s.block(map[string]any{"type": "tool_use", "id": "toolu_" + rand.Text(), "name": call[0], "input": map[string]any{}},
			map[string]any{"type": "input_json_delta", "partial_json": call[1]})
	}
	reason := "end_turn"
	if len(calls) > 0 {
		reason = "tool_use"
	}
	s.event("message_delta", map[string]any{
		"type": "message_delta", "delta": map[string]any{"stop_reason": reason, "stop_sequence": nil}, "usage": map[string]int{"output_tokens": len(answer) / 4},
	})
	s.event("message_stop", map[string]any{"type": "message_stop"})
	return len(calls)
}

// block is one block of the answer, in one delta.
func (s *stream) block(begin, delta map[string]any) {
	s.event("content_block_start", map[string]any{"type": "content_block_start", "index": s.index, "content_block": begin})
	s.event("content_block_delta", map[string]any{"type": "content_block_delta", "index": s.index, "delta": delta})
	s.event("content_block_stop", map[string]any{"type": "content_block_stop", "index": s.index})
	s.index++
}

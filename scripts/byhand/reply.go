package byhand

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
)

// reply is an answer of the API: as Server-Sent Events
// (https://docs.anthropic.com/en/api/messages-streaming), or as one message.
type reply struct {
	out     http.ResponseWriter
	stream  bool
	message map[string]any
}

func newReply(w http.ResponseWriter, model string, tokens int, stream bool) *reply {
	r := &reply{out: w, stream: stream, message: map[string]any{
		"id": "msg_" + rand.Text(), "type": "message", "role": "assistant", "model": model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil,
		"usage": map[string]int{"input_tokens": tokens, "output_tokens": 1, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0},
	}}
	if stream {
		w.Header().Set("Content-Type", "text/event-stream")
		r.event("message_start", map[string]any{"message": r.message})
	}
	return r
}

// event sends one event of a stream; the data contain its type as well.
func (r *reply) event(name string, data map[string]any) {
	data = maps.Clone(data)
	data["type"] = name
	text, err := json.Marshal(data)
	if err != nil {
		return // the data are made here and can be encoded
	}
	fmt.Fprintf(r.out, "event: %s\ndata: %s\n\n", name, text)
	_ = http.NewResponseController(r.out).Flush() // if it fails, the CLI is gone
}

// ping says that the answer is still to come.
func (r *reply) ping() {
	if r.stream {
		r.event("ping", map[string]any{})
	}
}

// block is a part of an answer: a text, or a call of a tool with its input.
type block struct{ text, tool, input string }

// blocks splits an answer into its text and then its calls.
func blocks(answer string) (all []block, calls int) {
	var text []string
	var tools []block
	for line := range strings.Lines(answer) {
		rest, call := strings.CutPrefix(line, "TOOL ")
		name, input, ok := strings.Cut(strings.TrimSpace(rest), " ")
		if call && ok && json.Valid([]byte(input)) {
			tools = append(tools, block{tool: name, input: input})
			continue
		}
		text = append(text, line)
	}
	if said := strings.TrimSpace(strings.Join(text, "")); said != "" || len(tools) == 0 {
		all = append(all, block{text: said})
	}
	return append(all, tools...), len(tools)
}

// send writes a whole answer and returns how many tools it calls.
func (r *reply) send(answer string) (calls int) {
	parts, calls := blocks(answer)
	reason, usage := "end_turn", map[string]int{"output_tokens": len(answer) / 4}
	if calls > 0 {
		reason = "tool_use"
	}
	var content []any
	for i, b := range parts {
		begin, delta := map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": b.text}
		whole := map[string]any{"type": "text", "text": b.text}
		if b.tool != "" {
			begin = map[string]any{"type": "tool_use", "id": "toolu_" + rand.Text(), "name": b.tool, "input": map[string]any{}}
			delta = map[string]any{"type": "input_json_delta", "partial_json": b.input}
			whole = maps.Clone(begin)
			whole["input"] = json.RawMessage(b.input)
		}
		content = append(content, whole)
		if r.stream {
			r.event("content_block_start", map[string]any{"index": i, "content_block": begin})
			r.event("content_block_delta", map[string]any{"index": i, "delta": delta})
			r.event("content_block_stop", map[string]any{"index": i})
		}
	}
	if r.stream {
		r.event("message_delta", map[string]any{"delta": map[string]any{"stop_reason": reason, "stop_sequence": nil}, "usage": usage})
		r.event("message_stop", map[string]any{})
		return calls
	}
	r.message["content"], r.message["stop_reason"] = content, reason
	r.out.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(r.out).Encode(r.message) // if it fails, the CLI is gone
	return calls
}

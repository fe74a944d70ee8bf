package enginetest

import (
	"maps"
	"strings"

	"touchstone/verdict"
)

// responses is OpenAI's Responses API.
type responses struct{ openAI }

func (responses) prompt(body []byte) prompt {
	return append(standing(body, "tools", "instructions"), said(body, "input")...)
}

// begin begins an answer, and returns what its last event repeats.
func (responses) begin(s *sse) map[string]any {
	response := map[string]any{"id": newID("resp"), "object": "response", "model": s.model, "status": "in_progress", "output": []any{}}
	s.send("response.created", map[string]any{"response": response})
	return response
}

func (r responses) breakOff(s *sse, words refusal) {
	response := r.begin(s)
	response["status"], response["error"] = "failed", map[string]any{"code": words.kind, "message": words.message}
	s.send("response.failed", map[string]any{"response": response})
}

func (r responses) stream(s *sse, turn Turn, usage verdict.Usage) {
	response := r.begin(s)
	output := 0
	item := func(added, done map[string]any, deltas func(at map[string]any)) {
		s.send("response.output_item.added", map[string]any{"output_index": output, "item": added})
		deltas(map[string]any{"output_index": output, "item_id": added["id"]})
		s.send("response.output_item.done", map[string]any{"output_index": output, "item": done})
		output++
	}
	if turn.Think > 0 {
		id := newID("rs")
		thinking := map[string]any{"type": "reasoning", "id": id, "summary": []any{}}
		if s.sealed {
			thinking["encrypted_content"] = "c2VhbGVk"
		}
		item(thinking, thinking, func(at map[string]any) {
			for range turn.Think {
				s.pause()
				at["delta"], at["summary_index"] = "hm ", 0
				s.send("response.reasoning_summary_text.delta", at)
			}
		})
	}
	if turn.Hang == HangMid {
		s.hang()
		return
	}
	message := func(content map[string]any, deltas func(at map[string]any)) {
		id := newID("msg")
		item(map[string]any{"type": "message", "id": id, "role": "assistant", "content": []any{}},
			map[string]any{"type": "message", "id": id, "role": "assistant", "content": []any{content}}, deltas)
	}
	text := strings.Join(turn.Text, "")
	switch {
	case turn.Stop == StopRefusal:
		message(map[string]any{"type": "refusal", "refusal": text}, func(map[string]any) {})
	case len(turn.Text) > 0:
		message(map[string]any{"type": "output_text", "text": text, "annotations": []any{}}, func(at map[string]any) {
			s.pieces(turn, func(piece string) {
				at["delta"], at["content_index"] = piece, 0
				s.send("response.output_text.delta", at)
			})
		})
	}
	if turn.Tool != "" {
		call := toolCall(turn)
		begun := maps.Clone(call)
		begun["status"] = "in_progress"
		item(begun, call, func(map[string]any) {})
	}
	response["usage"] = map[string]any{
		"input_tokens":         usage.Input + usage.CacheWrite + usage.CacheRead,
		"input_tokens_details": map[string]any{"cached_tokens": usage.CacheRead},
		"output_tokens":        usage.Output, "output_tokens_details": map[string]any{"reasoning_tokens": 0},
		"total_tokens": usage.Input + usage.CacheWrite + usage.CacheRead + usage.Output,
	}
	response["status"] = "completed"
	if why := responsesStops[turn.Stop]; why != "" {
		response["status"], response["incomplete_details"] = "incomplete", map[string]any{"reason": why}
	}
	s.send("response."+response["status"].(string), map[string]any{"response": response})
}

var responsesStops = map[Stop]string{StopLength: "max_output_tokens", StopRefusal: "content_filter"}

// said is a conversation with OpenAI's models, whose first messages may be instructions.
func said(body []byte, name string) (p prompt) {
	orders := true
	for _, item := range list(body, name) {
		message, _ := item.(map[string]any)
		orders = orders && (message["role"] == "developer" || message["role"] == "system")
		delete(message, "id") // the API's id for it, which the model does not read
		p = append(p, pieceOf(item, orders))
	}
	return p
}

// toolCall is a call with JSON, or with free text for a tool that takes it.
func toolCall(turn Turn) map[string]any {
	if text, free := turn.Input[""]; free {
		return map[string]any{"type": "custom_tool_call", "status": "completed", "id": newID("ctc"), "call_id": newID("call"), "name": turn.Tool,
			"input": text}
	}
	return map[string]any{"type": "function_call", "status": "completed", "id": newID("fc"), "call_id": newID("call"), "name": turn.Tool,
		"arguments": arguments(turn)}
}

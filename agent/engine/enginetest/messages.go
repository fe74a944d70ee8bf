package enginetest

import (
	"cmp"

	"touchstone/verdict"
)

// messages is Anthropic's Messages API.
type messages struct{}

func (messages) prompt(body []byte) (p prompt) {
	p = standing(body, "tools", "system")
	for _, message := range list(body, "messages") {
		said, _ := message.(map[string]any)
		blocks, several := said["content"].([]any)
		if !several {
			blocks = []any{said["content"]}
		}
		for _, block := range blocks {
			p = append(p, pieceOf(map[string]any{"role": said["role"], "content": block}, false))
		}
	}
	return p
}

func (messages) bill(c *promptCache, body []byte, p prompt) verdict.Usage {
	return c.anthropic(modelOf(body), p)
}

func (messages) refusals() map[Fault]refusal {
	return map[Fault]refusal{
		Unauthorized: {401, "authentication_error", "invalid x-api-key"},
		Forbidden:    {403, "permission_error", "not allowed"},
		NoCredit:     {400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API."},
		TooMany:      {429, "rate_limit_error", "slow down"},
		Overloaded:   {529, "overloaded_error", "Overloaded"},
		Broken:       {500, "api_error", "Internal server error"},
		NoSuchModel:  {404, "not_found_error", "model: nope"},
		TooLong:      {400, "invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum"},
		Malformed:    {400, "invalid_request_error", "bogus"},
	}
}

func (messages) problem(words refusal) any {
	return map[string]any{"type": "error", "error": map[string]string{"type": words.kind, "message": words.message}}
}

var messagesStops = map[Stop]string{
	StopLength: "max_tokens", StopContext: "model_context_window_exceeded", StopRefusal: "refusal",
}

func (m messages) breakOff(s *sse, words refusal) {
	m.begin(s, verdict.Usage{Input: 1})
	s.send("error", m.problem(words).(map[string]any))
}

// begin begins an answer, with the figures of its prompt.
func (messages) begin(s *sse, usage verdict.Usage) {
	s.send("message_start", map[string]any{"message": map[string]any{
		"id": newID("msg"), "type": "message", "role": "assistant",
		"model": s.model, "content": []any{}, "stop_reason": nil, "stop_sequence": nil,
		"usage": map[string]int64{
			"input_tokens": usage.Input, "cache_creation_input_tokens": usage.CacheWrite,
			"cache_read_input_tokens": usage.CacheRead, "output_tokens": 1,
		},
	}})
}

func (m messages) stream(s *sse, turn Turn, usage verdict.Usage) {
	m.begin(s, usage)
	index := 0
	block := func(start map[string]any, deltas func(delta func(map[string]any))) {
		s.send("content_block_start", map[string]any{"index": index, "content_block": start})
		deltas(func(d map[string]any) {
			s.send("content_block_delta", map[string]any{"index": index, "delta": d})
		})
		s.send("content_block_stop", map[string]any{"index": index})
		index++
	}
	if turn.Think > 0 {
		block(map[string]any{"type": "thinking", "thinking": "", "signature": ""}, func(delta func(map[string]any)) {
			for range turn.Think {
				s.pause()
				delta(map[string]any{"type": "thinking_delta", "thinking": "hm "})
			}
			delta(map[string]any{"type": "signature_delta", "signature": "c2ln"})
		})
	}
	if turn.Hang == HangMid {
		s.hang()
		return
	}
	if len(turn.Text) > 0 {
		block(map[string]any{"type": "text", "text": ""}, func(delta func(map[string]any)) {
			s.pieces(turn, func(piece string) { delta(map[string]any{"type": "text_delta", "text": piece}) })
		})
	}
	stop := cmp.Or(messagesStops[turn.Stop], "end_turn")
	if turn.Tool != "" {
		stop = cmp.Or(messagesStops[turn.Stop], "tool_use")
		block(map[string]any{"type": "tool_use", "id": newID("toolu"), "name": turn.Tool, "input": map[string]any{}},
			func(delta func(map[string]any)) {
				delta(map[string]any{"type": "input_json_delta", "partial_json": arguments(turn)})
			})
	}
	s.send("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": map[string]int64{"output_tokens": usage.Output},
	})
	s.send("message_stop", map[string]any{})
}

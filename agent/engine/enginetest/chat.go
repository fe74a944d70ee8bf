package enginetest

import (
	"cmp"
	"fmt"

	"touchstone/verdict"
)

// chat is OpenAI's chat completions API.
type chat struct{ openAI }

func (chat) prompt(body []byte) prompt {
	return append(standing(body, "tools"), said(body, "messages")...)
}

var chatStops = map[Stop]string{StopLength: "length", StopRefusal: "content_filter"}

func (c chat) breakOff(s *sse, words refusal) { s.data(c.problem(words)) }

func (chat) stream(s *sse, turn Turn, usage verdict.Usage) {
	id := newID("chatcmpl")
	chunk := func(delta map[string]any, finish any) {
		s.data(map[string]any{
			"id": id, "object": "chat.completion.chunk", "created": 1, "model": s.model,
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}},
		})
	}
	chunk(map[string]any{"role": "assistant", "content": ""}, nil)
	for range turn.Think {
		s.pause()
		chunk(map[string]any{"reasoning_content": "hm "}, nil)
	}
	if turn.Hang == HangMid {
		s.hang()
		return
	}
	s.pieces(turn, func(piece string) { chunk(map[string]any{"content": piece}, nil) })
	finish := cmp.Or(chatStops[turn.Stop], "stop")
	if turn.Tool != "" {
		finish = cmp.Or(chatStops[turn.Stop], "tool_calls")
		chunk(map[string]any{"tool_calls": []any{map[string]any{
			"index": 0, "id": newID("call"), "type": "function",
			"function": map[string]any{"name": turn.Tool, "arguments": arguments(turn)},
		}}}, nil)
	}
	chunk(map[string]any{}, finish)
	input := usage.Input + usage.CacheWrite + usage.CacheRead
	s.data(map[string]any{
		"id": id, "object": "chat.completion.chunk", "created": 1, "model": s.model, "choices": []any{},
		"usage": map[string]any{
			"prompt_tokens": input, "completion_tokens": usage.Output, "total_tokens": input + usage.Output,
			"prompt_tokens_details": map[string]any{"cached_tokens": usage.CacheRead},
		},
	})
	fmt.Fprint(s.w, "data: [DONE]\n\n")
}

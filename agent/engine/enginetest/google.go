package enginetest

import (
	"cmp"
	"encoding/json"
	"regexp"

	"touchstone/verdict"
)

// google is the Gemini API (https://ai.google.dev/api/generate-content), for the model in the request's path.
type google struct{ model string }

var googlePath = regexp.MustCompile(`^/v1beta/models/([^/:]+):(?:streamGenerateContent|generateContent)$`)

func (g google) prompt(body []byte) (p prompt) {
	p = standing(body, "tools", "systemInstruction")
	for _, content := range list(body, "contents") {
		p = append(p, pieceOf(content, false))
	}
	return p
}

// bill counts by OpenAI's rules: common beginnings are cached here too
// (https://ai.google.dev/gemini-api/docs/caching#implicit-caching).
func (g google) bill(c *promptCache, _ []byte, p prompt) verdict.Usage { return c.openAI(g.model, p) }

func (google) refusals() map[Fault]refusal {
	return map[Fault]refusal{
		Unauthorized: {400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."},
		Forbidden:    {403, "PERMISSION_DENIED", "The caller does not have permission"},
		NoCredit:     {429, "RESOURCE_EXHAUSTED", "Your prepayment credits are depleted."},
		TooMany:      {429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."},
		Overloaded:   {503, "UNAVAILABLE", "The model is overloaded. Please try again later."},
		Broken:       {500, "INTERNAL", "An internal error has occurred."},
		NoSuchModel:  {404, "NOT_FOUND", "models/nope is not found for API version v1beta, or is not supported for generateContent."},
		TooLong:      {400, "INVALID_ARGUMENT", "The input token count (250000) exceeds the maximum number of tokens allowed (200000)."},
		Malformed:    {400, "INVALID_ARGUMENT", "Request contains an invalid argument."},
	}
}

func (google) problem(words refusal) any {
	return map[string]any{"error": map[string]any{"code": words.status, "message": words.message, "status": words.kind}}
}

// objection refuses a message without content.
func (google) objection(body []byte) *refusal {
	var request struct {
		Contents []struct {
			Parts []json.RawMessage `json:"parts"`
		} `json:"contents"`
	}
	_ = json.Unmarshal(body, &request)
	for _, content := range request.Contents {
		if len(content.Parts) == 0 {
			return &refusal{400, "INVALID_ARGUMENT", "contents.parts must not be empty."}
		}
	}
	return nil
}

var googleStops = map[Stop]string{StopLength: "MAX_TOKENS", StopRefusal: "SAFETY"}

func (g google) breakOff(s *sse, words refusal) {
	g.part(s, map[string]any{"text": "half"}, "", verdict.Usage{})
	s.data(g.problem(words))
}

func (g google) stream(s *sse, turn Turn, usage verdict.Usage) {
	for range turn.Think {
		s.pause()
		g.part(s, map[string]any{"text": "**Thinking** hm ", "thought": true}, "", usage)
	}
	if turn.Hang == HangMid {
		g.part(s, map[string]any{"text": "half"}, "", verdict.Usage{})
		s.hang()
		return
	}
	s.pieces(turn, func(piece string) { g.part(s, map[string]any{"text": piece}, "", usage) })
	last := map[string]any{"text": ""}
	if turn.Tool != "" {
		last = map[string]any{"functionCall": map[string]any{"id": newID("call"), "name": turn.Tool, "args": turn.Input}}
	}
	g.part(s, last, cmp.Or(googleStops[turn.Stop], "STOP"), usage)
}

// part sends one piece of an answer.
func (g google) part(s *sse, part map[string]any, finish string, usage verdict.Usage) {
	candidate := map[string]any{"index": 0, "content": map[string]any{"role": "model", "parts": []any{part}}}
	if finish != "" {
		candidate["finishReason"] = finish
	}
	s.data(map[string]any{
		"candidates": []any{candidate}, "modelVersion": g.model, "responseId": newID("resp"),
		"usageMetadata": map[string]any{
			"promptTokenCount": usage.Input + usage.CacheRead, "cachedContentTokenCount": usage.CacheRead,
			"candidatesTokenCount": usage.Output, "totalTokenCount": usage.Input + usage.CacheRead + usage.Output,
		},
	})
}

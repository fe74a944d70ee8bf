package enginetest

import (
	"encoding/json"
	"strings"

	"touchstone/verdict"
)

// Sum adds up what the calls were billed.
func Sum(calls []Call) verdict.Usage {
	var sum verdict.Usage
	for _, call := range calls {
		sum = sum.Plus(call.Usage)
	}
	return sum
}

// perToken is how many bytes make a token.
const perToken = 4

// outputTokens are the tokens of an answer.
func outputTokens(turn Turn) int64 { return int64(len(strings.Join(turn.Text, ""))/perToken + 1) }

// prompt is what a request sends to the model, in reading order, piece by piece.
type prompt []piece

// piece is one tool, or one block of the system prompt or of a message, as JSON, without the marks by which a
// client says what to cache.
type piece struct {
	text string
	// marked says that the client wants everything up to here cached.
	marked bool
	// standing says that it comes before the conversation: a tool or an instruction.
	standing bool
}

// tokens counts the tokens of the first n pieces.
func (p prompt) tokens(n int) (tokens int64) {
	for _, one := range p[:n] {
		tokens += one.tokens()
	}
	return tokens
}

func (p piece) tokens() int64 { return int64(len(p.text)/perToken + 1) }

// standing counts the tokens of what comes before the conversation.
func (p prompt) standing() (tokens int64) {
	for _, one := range p {
		if one.standing {
			tokens += one.tokens()
		}
	}
	return tokens
}

// pieceOf makes a piece of a decoded value.
func pieceOf(value any, standing bool) piece {
	marked := unmark(value)
	// Decoded data can always be encoded.
	text, _ := json.Marshal(value)
	return piece{string(text), marked, standing}
}

// standing are the pieces of a request's fields that come before the conversation.
func standing(body []byte, fields ...string) (p prompt) {
	for _, name := range fields {
		for _, one := range list(body, name) {
			p = append(p, pieceOf(one, true))
		}
	}
	return p
}

// unmark removes the marks from a value, and reports whether there were any.
func unmark(value any) (marked bool) {
	switch v := value.(type) {
	case map[string]any:
		_, marked = v["cache_control"]
		delete(v, "cache_control")
		for _, inner := range v {
			marked = unmark(inner) || marked
		}
	case []any:
		for _, inner := range v {
			marked = unmark(inner) || marked
		}
	}
	return marked
}

// field decodes one field of a request, such as a list; nil if it is missing.
func field(body []byte, name string) any {
	var request map[string]any
	// An unreadable request has no prompt.
	_ = json.Unmarshal(body, &request)
	return request[name]
}

// list is a field that may also be a single text.
func list(body []byte, name string) []any {
	switch v := field(body, name).(type) {
	case nil:
		return nil
	case []any:
		return v
	default:
		return []any{v}
	}
}

func modelOf(body []byte) string {
	model, _ := field(body, "model").(string)
	return model
}

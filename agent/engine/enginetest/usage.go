package enginetest

import (
	"encoding/json"
	"strings"
)

// Usage counts the tokens of one answer, four bytes to a token.
type Usage struct {
	// Input is what was neither read from the cache nor written to it.
	Input, CacheWrite, CacheRead, Output int64
}

// Sum adds up what the calls were billed as.
func Sum(calls []Call) Usage {
	var sum Usage
	for _, call := range calls {
		sum.Input += call.Usage.Input
		sum.CacheWrite += call.Usage.CacheWrite
		sum.CacheRead += call.Usage.CacheRead
		sum.Output += call.Usage.Output
	}
	return sum
}

// promptCache remembers the conversations it was shown. The leading messages
// that a request has in common with an earlier one are read from it.
type promptCache struct{ seen [][]string }

// bill counts a request and remembers it. All but the last message that is new is
// written to the cache; the last one is plain input.
func (c *promptCache) bill(body []byte, field string, turn Turn) Usage {
	said := messagesOf(body, field)
	common := 0
	for _, earlier := range c.seen {
		common = max(common, commonPrefix(earlier, said))
	}
	c.seen = append(c.seen, said)
	var u Usage
	for i, message := range said {
		tokens := int64(len(message)/4 + 1)
		switch {
		case i < common:
			u.CacheRead += tokens
		case i < len(said)-1:
			u.CacheWrite += tokens
		default:
			u.Input += tokens
		}
	}
	u.Output = int64(len(strings.Join(turn.Text, ""))/4 + 1)
	return u
}

func commonPrefix(a, b []string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// messagesOf gives the messages of a request, each as JSON without the marks by
// which a client says what to cache, since those move on with every request.
func messagesOf(body []byte, field string) []string {
	var request map[string]json.RawMessage
	var list []any
	if json.Unmarshal(body, &request) != nil || json.Unmarshal(request[field], &list) != nil {
		return nil
	}
	said := make([]string, len(list))
	for i, message := range list {
		unmark(message)
		// What was decoded can be encoded.
		data, _ := json.Marshal(message)
		said[i] = string(data)
	}
	return said
}

func unmark(value any) {
	switch v := value.(type) {
	case map[string]any:
		delete(v, "cache_control")
		for _, inner := range v {
			unmark(inner)
		}
	case []any:
		for _, inner := range v {
			unmark(inner)
		}
	}
}

func modelOf(body []byte) string {
	var request struct {
		Model string `json:"model"`
	}
	// A request without a model is answered all the same.
	_ = json.Unmarshal(body, &request)
	return request.Model
}

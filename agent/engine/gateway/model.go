package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"touchstone/worktree/lazyregexp"
)

// maxRequest is the longest request that is passed on, in bytes: what the Messages API takes
// (https://docs.anthropic.com/en/api/errors).
const maxRequest = 32 << 20

// foreign is why a model is none of this session's, or nil. A session's models are those that
// its CLI asks for before the provider's first answer begins: until then no command has run in
// it that could ask for one at this machine's expense.
func (g *Gateway) foreign(model string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.answers {
		g.models[model] = true
	}
	if !g.models[model] {
		return fmt.Errorf("the session has begun with another model than %.80q, and keeps to it", model)
	}
	return nil
}

// firstAnswer takes note that the provider answers.
func (g *Gateway) firstAnswer() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.answers = true
}

// modelOf reads which model a request is for. But for its key for the provider's cache, if
// another one is given, it leaves the request as it was.
func modelOf(r *http.Request, key string) (string, error) {
	if coding := r.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return "", errors.New("the request is compressed, so that its model cannot be read; have it sent as it is")
	}
	var body bytes.Buffer
	if r.ContentLength > 0 {
		body.Grow(int(min(r.ContentLength, maxRequest) + bytes.MinRead))
	}
	n, err := body.ReadFrom(io.LimitReader(r.Body, maxRequest+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read the request: %w", err)
	case n > maxRequest:
		return "", fmt.Errorf("the request is longer than %d bytes", maxRequest)
	}
	text := body.Bytes()
	model, _ := googles(r)
	ok := model != ""
	if !ok {
		model, ok = named(text)
	}
	if !ok {
		return "", errors.New("the request does not name one model in so many letters")
	}
	if key != "" {
		text = keyed(text, key)
	}
	r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(bytes.NewReader(text)), int64(len(text)), nil
	return model, nil
}

// googlePath is how the Gemini API names the model and what it is to do
// (https://ai.google.dev/api/generate-content).
var googlePath = lazyregexp.New(`^/v1(?:alpha|beta)?/models/([A-Za-z0-9._-]+):([A-Za-z]+)$`)

// googles gives the model that a request of the Gemini API is for, and what it is to do; empty for
// any other request.
func googles(r *http.Request) (model, act string) {
	if parts := googlePath.FindStringSubmatch(r.URL.EscapedPath()); parts != nil {
		return parts[1], parts[2]
	}
	return "", ""
}

// named finds the model that a JSON object names. It is not ok where another reader might find
// another one: named twice, in other letters of the same word, or escaped. That all the rest is
// JSON it takes on trust, which makes it as fast as the request is copied.
func named(body []byte) (model string, ok bool) {
	clear := true
	closed := members(body, func(member []byte, at int) {
		clear = clear && bytes.IndexByte(member, '\\') < 0
		if !strings.EqualFold(string(member), "model") {
			return
		}
		name, _, whole := word(body[at:])
		odd := bytes.ContainsFunc(name, func(r rune) bool { return r < ' ' || r > '~' || r == '\\' })
		clear = clear && !ok && whole && string(member) == "model" && len(name) > 0 && !odd
		model, ok = string(name), true
	})
	return model, ok && clear && closed
}

// keyed is a request with another key for the provider's cache, where it has one. With a key of
// its own for each session, a CLI keeps sessions from sharing what is cached
// (https://platform.openai.com/docs/guides/prompt-caching,
// https://github.com/openai/codex/issues/29377).
func keyed(body []byte, key string) []byte {
	from, to := 0, 0
	members(body, func(member []byte, at int) {
		if inner, _, whole := word(body[at:]); whole && string(member) == "prompt_cache_key" {
			from, to = at+1, at+1+len(inner)
		}
	})
	if to == 0 {
		return body
	}
	return slices.Concat(body[:from], []byte(key), body[to:])
}

// members tells of each member of a JSON object its name, as it is written, and where its value
// begins. It reports whether the object ends, and nothing follows.
func members(body []byte, tell func(name []byte, value int)) (closed bool) {
	depth := 0
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			continue
		case closed || depth == 0 && c != '{':
			return false
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
			closed = depth == 0
		case c == '"':
			text, after, whole := word(body[i:])
			if !whole {
				return false
			}
			i += after - 1
			value, member := bytes.CutPrefix(bytes.TrimLeft(body[i+1:], " \t\r\n"), []byte(":"))
			if depth == 1 && member {
				tell(text, len(body)-len(bytes.TrimLeft(value, " \t\r\n")))
			}
		}
	}
	return closed
}

// word gives what stands between the quotes of the JSON string that text begins with, and
// where it ends.
func word(text []byte) (inner []byte, end int, whole bool) {
	if len(text) == 0 || text[0] != '"' {
		return nil, 0, false
	}
	for end = 1; ; end++ {
		next := bytes.IndexByte(text[end:], '"')
		if next < 0 {
			return nil, 0, false
		}
		end += next
		inner = text[1:end]
		if escapes := len(inner) - len(bytes.TrimRight(inner, `\`)); escapes%2 == 0 {
			return inner, end + 1, true
		}
	}
}

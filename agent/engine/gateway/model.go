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

// maxRequest is the longest request that is passed on, in bytes: the limit of the Messages API
// (https://docs.anthropic.com/en/api/errors).
const maxRequest = 32 << 20

// foreign says why a model is not one of this session's, or is nil. A session's models are those that its CLI
// asks for before the provider's first answer begins: before that, no command has run that could ask for
// another model at the user's expense.
func (g *Gateway) foreign(model string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.answers {
		g.models[model] = true
	}
	if !g.models[model] {
		return fmt.Errorf("the session started with another model than %.80q and cannot change it", model)
	}
	return nil
}

// firstAnswer records that the provider has answered.
func (g *Gateway) firstAnswer() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.answers = true
}

// modelOf reads which model a request is for. It leaves the request unchanged, except that it replaces its
// cache key if one is given.
func modelOf(r *http.Request, key string) (string, error) {
	if coding := r.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return "", errors.New("the request is compressed, so its model cannot be read; send it uncompressed")
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
		return "", errors.New("the request does not name exactly one model")
	}
	if key != "" {
		text = keyed(text, key)
	}
	r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(bytes.NewReader(text)), int64(len(text)), nil
	return model, nil
}

// googlePath matches how the Gemini API names the model and the method
// (https://ai.google.dev/api/generate-content).
var googlePath = lazyregexp.New(`^/v1(?:alpha|beta)?/models/([A-Za-z0-9._-]+):([A-Za-z]+)$`)

// googles returns the model and the method of a request of the Gemini API. They are empty for any other
// request.
func googles(r *http.Request) (model, act string) {
	if parts := googlePath.FindStringSubmatch(r.URL.EscapedPath()); parts != nil {
		return parts[1], parts[2]
	}
	return "", ""
}

// named finds the model that a JSON object names. Result ok is false if another parser might find a different
// one: the key occurs twice, in another case, or escaped. It does not check that the rest is valid JSON, and
// so is as fast as copying the request.
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

// keyed is a request with another key for the provider's cache, if it has one. By a key for each session, a
// CLI keeps sessions from sharing cached prompts (https://platform.openai.com/docs/guides/prompt-caching,
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

// members calls tell for each member of a JSON object, with its name as it is written and the offset of its
// value. It reports whether the object is closed and nothing follows.
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

// word returns the content of the JSON string at the beginning of text, and where the string ends.
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

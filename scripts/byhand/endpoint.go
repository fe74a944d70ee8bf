// Package byhand answers a model CLI's requests to Anthropic's Messages API with what a person or a program
// writes into files, so that prompts and guidelines can be tried with any model, or by a person.
package byhand

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Endpoint is the API (https://docs.anthropic.com/en/api/messages). Each request with tools becomes a
// directory of Dir, 01, 02 and so on, with the model's input in request.txt. The answer is what is then
// written there as answer.txt, which must appear as a whole. An answer is text, in which {{RUN}} stands for
// the RUN line of the prompt, and lines such as
//
//	TOOL Read {"file_path": "/a/b"}
//
// call a tool. A repeated request, such as after some time without an answer, gets the same answer. A request
// without tools is the CLI's own, and is answered with ok.
type Endpoint struct {
	Dir string

	mu    sync.Mutex
	asked map[string]string // directories by what was told
	tools int
}

// Bounds of a request, and the times between two checks for an answer and between two pings.
const (
	maxRequest = 32 << 20
	lookEvery  = 200 * time.Millisecond
	pingEvery  = 5 * time.Second
)

// Serve serves the endpoint on loopback until ctx ends. The variables make a model CLI use it, and wait for an answer: by
// default a CLI gives up after ten minutes, which is short for a person.
func (e *Endpoint) Serve(ctx context.Context, wait time.Duration) (variables []string, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: e}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	go server.Serve(listener)
	return []string{"ANTHROPIC_BASE_URL=http://" + listener.Addr().String(), "ANTHROPIC_API_KEY=by-hand",
		fmt.Sprintf("API_TIMEOUT_MS=%d", wait.Milliseconds())}, nil
}

// Tools returns how many tools were called so far.
func (e *Endpoint) Tools() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.tools
}

// request holds the relevant fields of a request.
type request struct {
	Model    string            `json:"model"`
	Stream   bool              `json:"stream"`
	System   json.RawMessage   `json:"system"`
	Tools    []json.RawMessage `json:"tools"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
}

// ServeHTTP implements http.Handler.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		return // the CLI checks whether the endpoint is up
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	var asked request
	if err == nil {
		err = json.Unmarshal(body, &asked)
	}
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
	case strings.HasSuffix(r.URL.Path, "/count_tokens"):
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"input_tokens":%d}`, len(body)/4)
	default:
		out := newReply(w, asked.Model, len(body)/4, asked.Stream)
		answer := "ok"
		if len(asked.Tools) > 0 {
			if answer, err = e.answer(r.Context(), asked, out.ping); err != nil {
				return // the CLI is gone, or nothing can be written: it sees the answer end
			}
		}
		called := out.send(answer)
		e.mu.Lock()
		e.tools += called
		e.mu.Unlock()
	}
}

// answer writes a request to a file, and waits for a file with the answer.
func (e *Endpoint) answer(ctx context.Context, asked request, ping func()) (string, error) {
	told := asked.text()
	e.mu.Lock()
	dir, again := e.asked[told]
	if !again {
		if e.asked == nil {
			e.asked = map[string]string{}
		}
		dir = filepath.Join(e.Dir, fmt.Sprintf("%02d", len(e.asked)+1))
		e.asked[told] = dir
	}
	e.mu.Unlock()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "request.txt"), []byte(told), 0o600); err != nil {
		return "", err
	}
	look, alive := time.NewTicker(lookEvery), time.NewTicker(pingEvery)
	defer look.Stop()
	defer alive.Stop()
	for {
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-alive.C:
			ping()
		case <-look.C:
			text, err := os.ReadFile(filepath.Join(dir, "answer.txt"))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if runs := runLine.FindAllString(told, -1); len(runs) > 0 {
				text = []byte(strings.ReplaceAll(string(text), "{{RUN}}", runs[len(runs)-1]))
			}
			return string(text), err
		}
	}
}

// runLine matches the line with a session's nonce, which the answer has to repeat.
var runLine = regexp.MustCompile(`<!-- RUN:[A-Za-z0-9]+ -->`)

// text returns everything in the request for the model, for a person to read.
func (r request) text() string {
	var out strings.Builder
	fmt.Fprintf(&out, "SYSTEM:\n%s\n", content(r.System))
	for _, m := range r.Messages {
		fmt.Fprintf(&out, "\n%s:\n%s\n", strings.ToUpper(m.Role), content(m.Content))
	}
	return out.String()
}

// content returns a text, or the texts, calls and results in a list of blocks.
func content(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var blocks []struct {
		Type    string          `json:"type"`
		Text    string          `json:"text"`
		Name    string          `json:"name"`
		Input   json.RawMessage `json:"input"`
		Content json.RawMessage `json:"content"`
	}
	_ = json.Unmarshal(raw, &blocks) // other content is empty
	var out []string
	for _, b := range blocks {
		switch b.Type {
		case "text":
			out = append(out, b.Text)
		case "tool_use":
			out = append(out, fmt.Sprintf("TOOL %s %s", b.Name, b.Input))
		case "tool_result":
			out = append(out, "RESULT:\n"+content(b.Content))
		}
	}
	return strings.Join(out, "\n")
}

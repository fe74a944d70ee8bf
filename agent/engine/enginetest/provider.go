// Package enginetest provides what engines need from outside: a scripted model provider on loopback, and the
// real CLIs. It is for tests only.
package enginetest

import (
	"bytes"
	"crypto/sha256"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"touchstone/verdict"
)

// Turn is the provider's answer to one request of any of the APIs.
type Turn struct {
	// Text is streamed as one text block, a piece per delta.
	Text []string
	// Tool, if named, is called after the text.
	Tool string
	// Input is the tool's input. With the single key "" it is free text, as some tools of the Responses API
	// take it.
	Input map[string]any
	// Stop says why the answer ends; empty means that it is complete.
	Stop Stop

	// Fault, if set, refuses the request in the API's own words.
	Fault Fault
	// Late makes the fault occur inside the answer, after its beginning.
	Late bool
	// RetryAfter is sent with a refusal, in seconds, if it is not zero.
	RetryAfter time.Duration

	// Hang says where the answer stops while the connection stays open.
	Hang HangPoint
	// Cut breaks the connection after the first text delta.
	Cut bool
	// Think streams this many thinking deltas before the text.
	Think int
	// Interval is waited before each delta.
	Interval time.Duration
}

// Stop is why an answer ends before it is complete.
type Stop string

const (
	// StopLength: the answer has reached the requested maximum of tokens.
	StopLength Stop = "length"
	// StopContext: the model's context is full. APIs that have no stop reason for that refuse the request
	// instead.
	StopContext Stop = "context"
	// StopRefusal: the model declines.
	StopRefusal Stop = "refusal"
)

// HangPoint is where a Turn hangs until the client disconnects.
type HangPoint string

const (
	// HangBefore hangs before anything is sent.
	HangBefore HangPoint = "before"
	// HangMid hangs after the beginning of the answer.
	HangMid HangPoint = "mid"
)

// Call is one request the provider received.
type Call struct {
	Path   string
	Header http.Header
	Body   []byte
	// Usage is what was billed for the answer, if there was one.
	Usage verdict.Usage
	// Standing are the tokens of the tools and instructions, which come before the conversation.
	Standing int64
}

// Provider speaks four streaming APIs on loopback: Messages
// (https://docs.anthropic.com/en/api/messages-streaming), Responses
// (https://platform.openai.com/docs/api-reference/responses-streaming), chat
// completions (https://platform.openai.com/docs/api-reference/chat/streaming) and Gemini
// (https://ai.google.dev/api/generate-content).
type Provider struct {
	URL string

	answer func(n int, call Call) Turn
	mu     sync.Mutex
	calls  []Call
	cache  promptCache
	clock  time.Duration
	done   chan struct{}
}

// NewProvider starts a provider that answers each request with the next Turn; the last Turn repeats. It ends
// with the test.
func NewProvider(t testing.TB, turns ...Turn) *Provider {
	t.Helper()
	return NewThinker(t, func(n int, _ Call) Turn { return turns[min(n, len(turns)-1)] })
}

// NewThinker starts a provider that calls a function for the answer to the n-th request, counted from 0, one
// request at a time. It ends with the test.
func NewThinker(t testing.TB, answer func(n int, call Call) Turn) *Provider {
	t.Helper()
	p := &Provider{answer: answer, done: make(chan struct{})}
	p.cache = promptCache{now: func() time.Time { return time.Now().Add(p.clock) }, kept: map[[sha256.Size]byte]time.Time{}}
	server := httptest.NewServer(http.HandlerFunc(p.serve))
	p.URL = server.URL
	t.Cleanup(func() {
		close(p.done)
		server.CloseClientConnections()
		server.Close()
	})
	return p
}

// Pass advances the clock of the provider's cache.
func (p *Provider) Pass(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clock += d
}

// Calls returns the requests received so far.
func (p *Provider) Calls() []Call {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.calls)
}

// dialects are the APIs by their paths, except Google's, whose paths contain the model.
var dialects = map[string]dialect{
	"/v1/messages":         messages{},
	"/v1/responses":        responses{},
	"/v1/chat/completions": chat{},
}

// dialect is the format of one API.
type dialect interface {
	// prompt is the prompt in a request.
	prompt(body []byte) prompt
	// bill counts the tokens of a prompt by the rules of the provider's cache.
	bill(c *promptCache, body []byte, p prompt) verdict.Usage
	// refusals are the API's errors for each fault.
	refusals() map[Fault]refusal
	// objection is why the real API would refuse a request; nil if it would not.
	objection(body []byte) *refusal
	// problem is the body of a refusal.
	problem(refusal) any
	// breakOff writes an answer that ends in a fault.
	breakOff(s *sse, words refusal)
	// stream writes an answer.
	stream(s *sse, turn Turn, usage verdict.Usage)
}

func (p *Provider) serve(w http.ResponseWriter, r *http.Request) {
	d := dialects[r.URL.Path]
	if parts := googlePath.FindStringSubmatch(r.URL.Path); parts != nil {
		d = google{parts[1]}
	}
	if d == nil || r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<20))
	if err != nil {
		http.Error(w, "unreadable request", http.StatusBadRequest)
		return
	}
	turn, usage := p.next(d, Call{Path: r.URL.Path, Header: r.Header.Clone(), Body: body})
	fault := turn.Fault
	if _, says := d.(messages); turn.Stop == StopContext && !says {
		fault = TooLong
	}
	objection := d.objection(body)
	switch {
	case objection != nil:
		refuse(w, d, *objection, 0)
	case turn.Hang == HangBefore:
		p.hang(r.Context().Done())
	case fault != "" && !turn.Late:
		refuse(w, d, d.refusals()[fault], turn.RetryAfter)
	default:
		w.Header().Set("Content-Type", "text/event-stream")
		s := &sse{
			w: w, flush: http.NewResponseController(w), gone: r.Context().Done(), interval: turn.Interval,
			model: modelOf(body), sealed: bytes.Contains(body, []byte(`"reasoning.encrypted_content"`)), hang: func() { p.hang(r.Context().Done()) },
		}
		if fault != "" {
			d.breakOff(s, d.refusals()[fault])
			return
		}
		d.stream(s, turn, usage)
	}
}

func (p *Provider) next(d dialect, call Call) (Turn, verdict.Usage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	told := d.prompt(call.Body)
	call.Standing = told.standing()
	p.calls = append(p.calls, call)
	turn := p.answer(len(p.calls)-1, call)
	usage := d.bill(&p.cache, call.Body, told)
	usage.Output = outputTokens(turn)
	if turn.Fault == "" && turn.Hang == "" && !turn.Cut {
		p.calls[len(p.calls)-1].Usage = usage
	}
	return turn, usage
}

func (p *Provider) hang(gone <-chan struct{}) {
	select {
	case <-gone:
	case <-p.done:
	}
}

package usage

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"touchstone/verdict"
)

// maxEvent bounds, in bytes, the events of an answer that are read. The longest one is the last event of the
// Responses API, which repeats the whole answer.
const maxEvent = 8 << 20

// Answer is one answer of the provider while it arrives: by Write if it is read from the connection, else by
// Event. Only one goroutine at a time may use it.
type Answer struct {
	account *Account
	whole   bool
	// asked is the length of the request in bytes. came is how many bytes of the answer have arrived and, for
	// a stream of events, tokens is an estimate of the tokens in them.
	asked, came, tokens int64

	model string
	used  verdict.Usage
	cost  float64
	fault *Fault
	// told says that the figures are those at the end of the answer.
	told, closed bool

	// line is the beginning of a line. skip says that the line was too long to be kept.
	line []byte
	skip bool
}

// Fault is a provider's failure inside an answer, in its own words. Kind is the code or type of its error,
// and Status the HTTP status in it, if any.
type Fault struct {
	Status        int
	Kind, Message string
}

// Fault is how the provider broke off the answer; nil if it did not. A broken connection is not a fault.
func (a *Answer) Fault() *Fault { return a.fault }

// Complete reports whether the answer has its result: its total usage, or a failure.
func (a *Answer) Complete() bool { return a.told || a.fault != nil }

// Write handles the next bytes of the body. It never fails: what it cannot read is not counted.
func (a *Answer) Write(p []byte) (int, error) {
	n := len(p)
	a.came += int64(n)
	for {
		head, rest, complete := p, []byte(nil), false
		if !a.whole {
			head, rest, complete = bytes.Cut(p, []byte{'\n'})
		}
		if len(a.line)+len(head) > maxEvent {
			a.line, a.skip = nil, true
		}
		switch {
		case complete && len(a.line) == 0 && !a.skip:
			// Nearly all lines arrive in one piece and need no copy.
			a.read(head)
		case !a.skip:
			a.line = append(a.line, head...)
		}
		if !complete {
			return n, nil
		}
		a.flush()
		p = rest
	}
}

// flush reads a line that has arrived without its end.
func (a *Answer) flush() {
	a.read(a.line)
	a.line, a.skip = a.line[:0], false
}

// Close ends the answer, as far as it has arrived. Providers report the usage last, and charge for an answer
// that was cut off before that. So if it is missing, Close charges an estimate. If the provider itself ended
// the answer with a failure, nothing is charged beyond what it reported.
func (a *Answer) Close() {
	if a.closed {
		return
	}
	a.closed = true
	a.flush()
	if !a.Complete() {
		a.account.estimate(a)
	}
}

// perToken is about how many bytes of text make a token. perEvent is how many bytes an event has besides the
// one token that most providers put into it.
const (
	perToken = 4
	perEvent = 400
)

// estimated is the usage of the answer as seen from outside. It assumes no cached input, unless the beginning
// of the answer reported it.
func (a *Answer) estimated() verdict.Usage {
	used := a.used
	if used.Total() == used.Output {
		used.Input = bounded(a.asked / perToken)
	}
	used.Output = max(used.Output, bounded(cmp.Or(a.tokens, a.came/perToken)))
	return used
}

// read handles one line of a stream of events
// (https://html.spec.whatwg.org/multipage/server-sent-events.html), or of JSON.
func (a *Answer) read(line []byte) {
	data, event := bytes.CutPrefix(line, []byte("data:"))
	if event {
		a.tokens++
	}
	if bytes.Contains(line, []byte(`"usage"`)) || bytes.Contains(line, []byte(`"usageMetadata"`)) || bytes.Contains(line, []byte(`"error"`)) {
		a.Event(data)
		return
	}
	if event {
		a.tokens += max(int64(len(data)-perEvent), 0) / perToken
	}
}

// figures are the usage of an answer, with the names of the Messages API
// (https://docs.anthropic.com/en/api/messages), the Responses API
// (https://platform.openai.com/docs/api-reference/responses) and chat completions
// (https://platform.openai.com/docs/api-reference/chat). The first counts cached input separately, the others
// include it in the input.
type figures struct {
	Input      int64  `json:"input_tokens"`
	Output     int64  `json:"output_tokens"`
	CacheWrite int64  `json:"cache_creation_input_tokens"`
	CacheRead  int64  `json:"cache_read_input_tokens"`
	InputOf    cached `json:"input_tokens_details"`

	Prompt     int64  `json:"prompt_tokens"`
	Completion int64  `json:"completion_tokens"`
	PromptOf   cached `json:"prompt_tokens_details"`
}

type cached struct {
	Tokens int64 `json:"cached_tokens"`
}

func (f figures) usage() verdict.Usage {
	read := f.InputOf.Tokens + f.PromptOf.Tokens
	return verdict.Usage{
		Input: bounded(f.Input + f.Prompt - read), CacheWrite: bounded(f.CacheWrite),
		CacheRead: bounded(f.CacheRead + read), Output: bounded(f.Output + f.Completion),
	}
}

// bounded keeps an absurd figure from spoiling the sum.
func bounded(tokens int64) int64 { return min(max(tokens, 0), 1e9) }

// metadata is the usage of an answer so far, with the names of the Gemini API
// (https://ai.google.dev/api/generate-content#UsageMetadata). It includes cached input in the input, and
// counts thoughts separately.
type metadata struct {
	Prompt     int64 `json:"promptTokenCount"`
	ToolPrompt int64 `json:"toolUsePromptTokenCount"`
	Cached     int64 `json:"cachedContentTokenCount"`
	Candidates int64 `json:"candidatesTokenCount"`
	Thoughts   int64 `json:"thoughtsTokenCount"`
}

func (m metadata) usage() verdict.Usage {
	return verdict.Usage{
		Input: bounded(m.Prompt + m.ToolPrompt - m.Cached), CacheRead: bounded(m.Cached), Output: bounded(m.Candidates + m.Thoughts),
	}
}

// candidates say how an answer of the Gemini API ended; they are empty before its end.
type candidates struct {
	Candidates []struct {
		FinishReason string `json:"finishReason"`
	} `json:"candidates"`
	PromptFeedback struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
}

// reason is why the answer ended; empty if it has not ended.
func (c candidates) reason() string {
	for _, candidate := range c.Candidates {
		if candidate.FinishReason != "" {
			return candidate.FinishReason
		}
	}
	return c.PromptFeedback.BlockReason
}

// declined are the reasons for which a model, or its safety filter, does not answer.
var declined = []string{"SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "RECITATION", "SPII"}

type answered struct {
	Model string  `json:"model"`
	Usage figures `json:"usage"`
	Error *struct {
		words
		Type string `json:"type"`
	} `json:"error"`
}

// words describe a provider's failure. Code is a word or an HTTP status.
type words struct {
	Code    any    `json:"code"`
	Message string `json:"message"`
}

// fault returns the failure. In the Responses API it may be an event of its own; all other APIs have it in an
// object.
func (w words) fault(kind string) *Fault {
	f := &Fault{Kind: kind, Message: w.Message}
	switch code := w.Code.(type) {
	case string:
		f.Kind = cmp.Or(code, kind)
	case float64:
		f.Status = int(code)
	}
	return f
}

// google handles an event of the Gemini API, which reports the usage so far each time.
func (a *Answer) google(model string, used verdict.Usage, reason string) {
	a.model = cmp.Or(model, a.model)
	a.used = a.used.Max(used)
	a.told = a.told || used.Total() > 0 && reason != ""
	if slices.Contains(declined, reason) {
		a.fault = &Fault{Kind: "content_filter", Message: reason}
	}
}

// Event handles one event of the provider. Its figures are those of the answer so far; unchanged ones may be
// missing.
func (a *Answer) Event(data []byte) {
	var event struct {
		answered
		Type     string   `json:"type"`
		Message  answered `json:"message"`
		Response answered `json:"response"`

		candidates
		ModelVersion  string   `json:"modelVersion"`
		UsageMetadata metadata `json:"usageMetadata"`
	}
	// Fields of an unexpected type stay zero, the others count.
	_ = json.Unmarshal(data, &event)
	if event.Type == "error" && event.Error == nil {
		var alone words
		_ = json.Unmarshal(data, &alone) // as above
		a.fault = alone.fault("")
	}
	before, cost := a.used, a.cost
	for _, said := range []answered{event.answered, event.Message, event.Response} {
		a.model = cmp.Or(said.Model, a.model)
		if said.Error != nil {
			if fault := said.Error.fault(said.Error.Type); *fault != (Fault{}) {
				a.fault = fault
			}
		}
		used := said.Usage.usage()
		// The beginning of a message only has the input.
		a.told = a.told || used.Total() > 0 && event.Type != "message_start"
		a.used = a.used.Max(used)
	}
	a.google(event.ModelVersion, event.UsageMetadata.usage(), event.reason())
	a.cost = a.account.prices.Cost(a.model, a.used)
	a.account.mu.Lock()
	defer a.account.mu.Unlock()
	a.account.sum.Model = a.model
	a.account.book(a.used.Minus(before), a.cost-cost)
}

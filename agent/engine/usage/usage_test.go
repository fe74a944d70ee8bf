package usage_test

import (
	"strings"
	"testing"

	"touchstone/agent/engine"
	"touchstone/agent/engine/usage"
	"touchstone/verdict"
)

var prices = engine.Prices{"model": {Input: 1, CacheWrite: 2, CacheRead: 0.5, Output: 10}}

// The answers of the four APIs, each of which has used the same.
const (
	messagesStream = `event: message_start
data: {"type":"message_start","message":{"model":"model-1","usage":{"input_tokens":100,"cache_creation_input_tokens":20,"cache_read_input_tokens":30,"output_tokens":1}}}

event: content_block_delta
data: {"type":"content_block_delta","delta":{"text":"\"usage\":{\"output_tokens\":9999}"}}

event: message_delta
data: {"type":"message_delta","usage":{"output_tokens":40}}

`
	messagesWhole = `{
  "model": "model-1",
  "usage": {"input_tokens": 100, "cache_creation_input_tokens": 20,
    "cache_read_input_tokens": 30, "output_tokens": 40}
}`
	responsesStream = `data: {"type":"response.created","response":{"model":"model-1"}}

data: {"type":"response.completed","response":{"model":"model-1","usage":{"input_tokens":150,"input_tokens_details":{"cached_tokens":30},"output_tokens":40}}}

`
	chatStream = "data:{\"model\":\"model-1\",\"choices\":[]}\r\n\r\n" +
		"data:{\"model\":\"model-1\",\"usage\":{\"prompt_tokens\":150," +
		"\"prompt_tokens_details\":{\"cached_tokens\":30},\"completion_tokens\":40}}\r\n\r\n" +
		"data: [DONE]"
	googleBegins = `data: {"candidates":[{"content":{"parts":[{"text":"Hello"}]}}],"modelVersion":"model-1","usageMetadata":{"promptTokenCount":150,"cachedContentTokenCount":30,"candidatesTokenCount":4}}

`
	googleEnds = `data: {"candidates":[{"content":{"parts":[{"text":"."}]},"finishReason":"STOP"}],"modelVersion":"model-1","usageMetadata":{"promptTokenCount":140,"toolUsePromptTokenCount":10,"cachedContentTokenCount":30,"candidatesTokenCount":30,"thoughtsTokenCount":10}}

`
)

const (
	created = `data: {"type":"response.created","response":{"model":"model-1","usage":null}}` + "\n"
	delta   = "data: {\"type\":\"response.output_text.delta\",\"delta\":\" word\"}\n"
)

// estimated is what one answer without figures to a request of 400 bytes comes to.
func estimated(used verdict.Usage, cost float64) usage.Sum {
	return usage.Sum{Usage: used, CostUSD: cost, Answers: 1, Estimated: 1, Model: "model-1"}
}

func TestUsageIsReadFromEachProvidersAnswers(t *testing.T) {
	t.Parallel()
	// Only the Messages API says what went into the cache.
	apart := usage.Sum{Usage: verdict.Usage{Input: 100, CacheWrite: 20, CacheRead: 30, Output: 40}, CostUSD: 555e-6, Answers: 1,
		Model: "model-1"}
	together := usage.Sum{Usage: verdict.Usage{Input: 120, CacheRead: 30, Output: 40}, CostUSD: 535e-6, Answers: 1, Model: "model-1"}
	for _, test := range []struct {
		name, body string
		whole      bool
		want       usage.Sum
	}{
		{"messages", messagesStream, false, apart},
		{"messages in one", messagesWhole, true, apart},
		{"responses", responsesStream, false, together},
		{"chat", chatStream, false, together},
		{"google", strings.Replace(googleBegins, "150", "140", 1) + googleEnds, false, together},
		{"google that is cut off", googleBegins + strings.Repeat(delta, 50), false,
			estimated(verdict.Usage{Input: 120, CacheRead: 30, Output: 51}, 645e-6)},
		{"google that declines", strings.Replace(googleEnds, "STOP", "SAFETY", 1), false, together},
		{"nothing to read", "<html>\n\"usage\"\n", false, estimated(verdict.Usage{Input: 100, Output: 3}, 130e-6)},
		{"messages that are cut off", strings.SplitAfter(messagesStream, "9999}\"}}\n")[0], false,
			estimated(verdict.Usage{Input: 100, CacheWrite: 20, CacheRead: 30, Output: 2}, 175e-6)},
		{"responses that are cut off", created + strings.Repeat(delta, 50), false, estimated(verdict.Usage{Input: 100, Output: 51}, 610e-6)},
		{"a long event before the cut", created + `data: {"delta":"` + strings.Repeat("x", 4385) + "\"}\n", false,
			estimated(verdict.Usage{Input: 100, Output: 1001}, 10110e-6)},
		{"chat without figures", "data:{\"model\":\"model-1\",\"usage\":null}\n\ndata: [DONE]", false,
			estimated(verdict.Usage{Input: 100, Output: 2}, 120e-6)},
		{"broken off by the provider", created + delta +
			"data: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"server_error\"}}}\n", false,
			usage.Sum{Answers: 1, Model: "model-1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for _, piece := range []int{len(test.body), 1, 7} {
				a := usage.Open(engine.Request{}, prices)
				write(a, test.body, test.whole, piece)
				before := a.Sum()
				write(a, test.body, test.whole, piece)
				if got := a.Sum().Since(before); !alike(got, test.want) {
					t.Errorf("in pieces of %d: %+v; want %+v", piece, got, test.want)
				}
			}
		})
	}
}

// write plays an answer to an account, in pieces.
func write(a *usage.Account, body string, whole bool, piece int) {
	answer := a.Answer("model-1", 400, whole)
	for data := []byte(body); len(data) > 0; {
		n, _ := answer.Write(data[:min(piece, len(data))])
		data = data[n:]
	}
	answer.Close()
}

func alike(a, b usage.Sum) bool {
	difference := a.CostUSD - b.CostUSD
	a.CostUSD, b.CostUSD = 0, 0
	return a == b && difference < 1e-9 && difference > -1e-9
}

func TestALineTooLongIsLeftOut(t *testing.T) {
	t.Parallel()
	a := usage.Open(engine.Request{}, prices)
	write(a, "data: "+strings.Repeat("x", 9<<20)+chatStream+"\n"+chatStream, false, 64<<10)
	if got := a.Sum(); got.Output != 40 {
		t.Errorf("spent %+v; want the answer after the long line", got)
	}
}

func TestASessionIsExhaustedAtItsBounds(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		req    engine.Request
		prices engine.Prices
		// last is the answer after which the session may not go on; 0 is none.
		last  int
		class engine.Class
	}{
		{"no bounds", engine.Request{}, prices, 0, ""},
		{"turns", engine.Request{MaxTurns: 3}, prices, 3, engine.MaxTurns},
		{"money", engine.Request{Budget: 0.001}, prices, 2, engine.Budget},
		{"money, by the dearest price", engine.Request{Budget: 0.01}, engine.Prices{"other": {Output: 200}}, 2, engine.Budget},
		{"money without a price", engine.Request{Budget: 0.005}, nil, 2, engine.Budget},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a := usage.Open(test.req, test.prices)
			for n := 1; n <= 5; n++ {
				write(a, messagesStream, false, 100)
				over := a.Exhausted()
				if want := test.last > 0 && n >= test.last; (over != nil) != want {
					t.Fatalf("after answer %d: %v", n, over)
				}
				if over != nil && over.Class != test.class {
					t.Errorf("class = %s; want %s", over.Class, test.class)
				}
			}
		})
	}
}

func TestChargeReplacesTheEstimate(t *testing.T) {
	t.Parallel()
	a := usage.Open(engine.Request{MaxTurns: 2}, prices)
	a.Charge("model", verdict.Usage{Output: 100}, 2, usage.Sum{})
	if got := a.Sum(); got.CostUSD != 0.001 || got.Answers != 2 || got.Model != "model" || a.Exhausted() == nil {
		t.Errorf("spent %+v, %v", got, a.Exhausted())
	}
	before := a.Sum()
	write(a, delta, false, 100)
	a.Charge("model", verdict.Usage{Output: 50}, 0, a.Sum().Since(before))
	if got := a.Sum(); !alike(got, usage.Sum{Usage: verdict.Usage{Output: 150}, CostUSD: 0.0015, Answers: 3, Model: "model"}) {
		t.Errorf("spent %+v; want the CLI's word in place of the estimate", got)
	}
}

func FuzzAnswer(f *testing.F) {
	for _, body := range []string{messagesStream, responsesStream, chatStream, messagesWhole, googleBegins + googleEnds,
		`data: {"usage":{"input_tokens":-5,"output_tokens":9223372036854775807}}`} {
		f.Add(body, 1, false)
		f.Add(body, 5, true)
	}
	f.Fuzz(func(t *testing.T, body string, piece int, whole bool) {
		if piece < 1 {
			return
		}
		one, many := usage.Open(engine.Request{}, prices), usage.Open(engine.Request{}, prices)
		write(one, body, whole, len(body)+1)
		write(many, body, whole, piece)
		if a, b := one.Sum(), many.Sum(); !alike(a, b) || a.Input < 0 || a.CacheWrite < 0 || a.CacheRead < 0 || a.Output < 0 {
			t.Errorf("in one piece %+v, in many %+v", a, b)
		}
	})
}

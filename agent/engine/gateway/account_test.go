package gateway_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"touchstone/agent/engine"
	"touchstone/agent/engine/gateway"
	"touchstone/agent/engine/usage"
	"touchstone/verdict"
)

const answer = "event: response.completed\ndata: " +
	"{\"response\":{\"model\":\"model-1\",\"usage\":{\"input_tokens\":100,\"output_tokens\":10}}}\n\n"

var prices = engine.Prices{"model": {Input: 100, Output: 1000}}

// accounted puts a gateway with bounds before a provider that answers every request,
// but for those that fail is true of; n counts from 1.
func accounted(t *testing.T, req engine.Request, fail func(n int) bool) (*gateway.Gateway, *usage.Account) {
	t.Helper()
	n := 0
	account := usage.Open(req, prices)
	return openAt(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if n++; fail(n) {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, answer)
	}), account), account
}

func never(int) bool { return false }

// settle is Settle, for as long as that takes on a busy machine.
func settle(g *gateway.Gateway) {
	for !g.Settle() {
		continue
	}
}

func TestAnswersAreAccountedFor(t *testing.T) {
	t.Parallel()
	g, account := accounted(t, engine.Request{}, func(n int) bool { return n == 2 })
	turn := g.Begin(func() { t.Error("given up") })
	for range 3 {
		ask(t, g, "X-Api-Key", g.Token)
	}
	want := usage.Sum{Usage: verdict.Usage{Input: 200, Output: 20}, CostUSD: 0.04, Answers: 2, Model: "model-1"}
	if got := account.Sum(); got != want {
		t.Errorf("spent %+v; want %+v", got, want)
	}
	if turn.Retries() != 1 {
		t.Errorf("%d retries; want the one after the refusal", turn.Retries())
	}
}

func TestASessionThatMayNotGoOn(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		class engine.Class
		req   engine.Request
	}{
		{engine.Budget, engine.Request{Budget: 0.03}},
		{engine.MaxTurns, engine.Request{MaxTurns: 2}},
	} {
		t.Run(string(test.class), func(t *testing.T) {
			t.Parallel()
			g, account := accounted(t, test.req, never)
			ctx, giveUp := context.WithCancel(t.Context())
			turn := g.Begin(giveUp)
			for n := range 2 {
				if status, body := ask(t, g, "X-Api-Key", g.Token); status != http.StatusOK || body != answer {
					t.Errorf("request %d was answered with %d %q", n+1, status, body)
				}
			}
			if turn.Over() != nil || ctx.Err() != nil {
				t.Error("ended before there was one request too many")
			}
			for range 2 {
				if status, _ := ask(t, g, "X-Api-Key", g.Token); status != http.StatusPaymentRequired {
					t.Errorf("status = %d", status)
				}
			}
			if over := turn.Over(); over == nil || over.Class != test.class || ctx.Err() == nil {
				t.Errorf("over = %v, %v", over, ctx.Err())
			}
			if account.Sum().Answers != 2 {
				t.Errorf("the provider has answered %d times", account.Sum().Answers)
			}
		})
	}
}

// TestAnswersWithoutFiguresCost puts a budget before a provider whose answers never tell what
// they used: the stream is cut, ends without it, is compressed, or nobody waits for its end.
func TestAnswersWithoutFiguresCost(t *testing.T) {
	t.Parallel()
	begun := strings.Repeat("data: {\"type\":\"response.output_text.delta\",\"delta\":\" word\"}\n\n", 2000)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.WriteString(z, begun+answer)
	z.Close()
	for name, respond := range map[string]http.HandlerFunc{
		"cut":    func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, begun); panic(http.ErrAbortHandler) },
		"untold": func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, begun) },
		"packed": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(packed.Bytes())
		},
		"left": func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, begun)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			account := usage.Open(engine.Request{Budget: 0.01}, prices)
			g := openAt(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
				if asked++; asked == 1 {
					respond(w, r)
				}
			}), account)
			g.Begin(func() {})
			response := send(t, http.MethodPost, g.URL+"/responses", question, "X-Api-Key", g.Token)
			// Until then it is answered; all that there is would take too long where nobody ends it.
			_, _ = io.ReadFull(response.Body, make([]byte, 64))
			response.Body.Close()
			settle(g)
			sum := account.Sum()
			if sum.Answers != 1 || sum.Estimated != 1 || sum.Input != int64(len(question))/4 || sum.Output == 0 || sum.Model != "model-1" {
				t.Errorf("spent %+v", sum)
			}
			if status, _ := ask(t, g, "X-Api-Key", g.Token); status != http.StatusPaymentRequired {
				t.Errorf("after %+v the next request is answered with %d", sum, status)
			}
		})
	}
}

// TestManyAtOnceKeepToTheBounds asks with many requests before the first is answered.
func TestManyAtOnceKeepToTheBounds(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	g := openAt(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, answer)
	}), usage.Open(engine.Request{Budget: 0.03}, prices))
	g.Begin(func() {})
	var all sync.WaitGroup
	for range 30 {
		all.Go(func() { ask(t, g, "X-Api-Key", g.Token) })
	}
	all.Wait()
	if n := asked.Load(); n < 2 || n > 3 {
		t.Errorf("the provider was asked %d times; want no more than one beyond the two that the budget is good for", n)
	}
}

// TestCLIWorksBetweenAnAnswerAndTheNextRequest once the provider has answered it wholly, until it asks again.
func TestCLIWorksBetweenAnAnswerAndTheNextRequest(t *testing.T) {
	t.Parallel()
	var g *gateway.Gateway
	var n atomic.Int32
	g = open(t, func(w http.ResponseWriter, _ *http.Request) {
		if g.Working() || !g.Asking() {
			t.Error("it is at work while the provider is asked")
		}
		switch n.Add(1) {
		case 1:
			io.WriteString(w, "half")
			panic(http.ErrAbortHandler)
		case 3:
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			io.WriteString(w, answer)
		}
	})
	g.Begin(func() {})
	for i, want := range []bool{false, true, false, true} {
		ask(t, g, "X-Api-Key", g.Token)
		settle(g)
		if g.Working() != want || g.Asking() {
			t.Errorf("after request %d at work: %t, asking: %t", i+1, g.Working(), g.Asking())
		}
	}
	if g.Begin(func() {}); g.Working() {
		t.Error("it is at work before it has asked in this turn")
	}
}

// TestACLIThatDoesNotWaitForTheEnd has read the last event of an answer and leaves, as codex
// does, while the provider has not ended it yet: how it came out counts all the same.
func TestACLIThatDoesNotWaitForTheEnd(t *testing.T) {
	t.Parallel()
	const broken = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"
	for said, whole := range map[string]bool{answer: true, broken: false} {
		g := open(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, said)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		})
		turn := g.Begin(func() {})
		response := send(t, http.MethodPost, g.URL+"/responses", question, "X-Api-Key", g.Token)
		if _, err := io.ReadFull(response.Body, make([]byte, len(said))); err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		settle(g)
		if refusal, refused := turn.Refused(); g.Working() != whole || refused == whole || refused && refusal.Class() != engine.Overloaded {
			t.Errorf("after %q the CLI is at work: %t, refused: %t %+v", said, g.Working(), refused, refusal)
		}
	}
}

package gateway_test

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"touchstone/agent/engine"
	"touchstone/agent/engine/usage"
	"touchstone/worktree/await"
)

func TestARefusalHasAClassAndAWait(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, body string
		status     int
		header     http.Header
		class      engine.Class
		after      time.Duration
		// tries is how many requests it takes until the turn is given up.
		tries int
	}{
		{"rate limit", `{"error":{"type":"rate_limit_error","message":"slow down"}}`, 429, http.Header{"Retry-After": {"3"}}, engine.RateLimited,
			3 * time.Second, 4},
		{"a long wait", `{"error":{}}`, 429, http.Header{"Retry-After": {"3600"}}, engine.RateLimited, time.Hour, 1},
		{"a wait beyond all bounds", `{"error":{}}`, 529, http.Header{"Retry-After": {"99999999999"}}, engine.Overloaded, 24 * time.Hour, 1},
		{"no credit", `{"error":{"code":"insufficient_quota"}}`, 429, nil, engine.Billing, 0, 2},
		{"no credit, in other words", `{"error":{"message":"Your credit balance is too low"}}`, 400, nil, engine.Billing, 0, 2},
		{"wrong key", `{"error":{"code":7,"message":"not ` + key + `"}}`, 401, nil, engine.Auth, 0, 2},
		{"a wait in Google's words", `{"error":{"code":429,"message":"Quota exceeded","status":"RESOURCE_EXHAUSTED","details":[` +
			`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"17.5s"}]}}`, 429, nil, engine.RateLimited,
			17500 * time.Millisecond, 1},
		{"no credit in Google's words", `{"error":{"code":429,"message":"Your prepayment credits are depleted.","status":"RESOURCE_EXHAUSTED"}}`,
			429, nil, engine.Billing, 0, 2},
		{"no permission in Google's words", `{"error":{"code":403,"message":"No.","status":"PERMISSION_DENIED"}}`, 403, nil, engine.Auth, 0, 2},
		{"too long in Google's words", `{"error":{"code":400,"message":"The input token count (9) exceeds the maximum number of tokens ` +
			`allowed (8).","status":"INVALID_ARGUMENT"}}`, 400, nil, engine.ContextOverflow, 0, 2},
		{"not JSON", "<html>", 502, nil, engine.Server, 0, 4},
		{"too long", `{"error":{"message":"prompt is too long: 9 > 8"}}`, 400, nil, engine.ContextOverflow, 0, 2},
		{"unknown model", `{"error":{"type":"not_found_error","message":"model: nope"}}`, 404, nil, engine.UnknownModel, 0, 2},
		{"unknown model, in one sentence", `{"error":"model 'nope' not found"}`, 404, nil, engine.UnknownModel, 0, 2},
		{"no provider there", "404 page not found", 404, nil, engine.Network, 0, 4},
		{"a proxy that wants a login", "", 407, nil, engine.Network, 0, 4},
		{"a proxy that waited for too long", "", 408, nil, engine.Network, 0, 4},
		{"a conflict that passes", "", 409, nil, engine.Network, 0, 4},
		{"too early", "", 425, nil, engine.Network, 0, 4},
		{"more at once than the account may send",
			`{"error":{"code":"rate_limit_exceeded","message":"Request too large for gpt-5 on tokens per min (TPM): Limit 30000, Requested ` +
				`36247. The input or output tokens must be reduced in order to run successfully."}}`, 429, nil, engine.ContextOverflow, 0, 2},
		{"too long with its answer", `{"error":{"type":"invalid_request_error","message":"input length and max_tokens exceed context limit: ` +
			`199000 + 21333 > 200000"}}`, 400, nil, engine.ContextOverflow, 0, 2},
		{"unknown model, as a bad request", `{"error":{"message":"The requested model 'gpt-9' does not exist."}}`, 400, nil, engine.UnknownModel,
			0, 2},
		{"a model that wants papers", `{"error":{"message":"Your organization must be verified to stream this model. Please go to: ` +
			`https://platform.openai.com/settings/organization/general","type":"invalid_request_error","param":"stream",` +
			`"code":"unsupported_value"}}`, 400, nil, engine.UnknownModel, 0, 2},
		{"wrong key, as a bad request", `{"code":"Client specified an invalid argument","error":"Incorrect API key provided: sk***gA."}`, 400,
			nil, engine.Auth, 0, 2},
		{"too long, for a model of one's own", `{"error":{"message":"This model's maximum context length is 16384 tokens. However, you ` +
			`requested 122946 tokens.","type":"BadRequestError","code":400}}`, 400, nil, engine.ContextOverflow, 0, 2},
		{"too long, for another one", `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing ` +
			`it","type":"exceed_context_size_error"}}`, 400, nil, engine.ContextOverflow, 0, 2},
		{"no permission", `{"error":{"type":"permission_error","message":"no"}}`, 403, nil, engine.Auth, 0, 2},
		{"a firewall", "<html>Forbidden</html>", 403, nil, engine.BadRequest, 0, 2},
		{"a guardrail", `{"error":{"code":"content_policy_violation","message":"no"}}`, 403, nil, engine.Refusal, 0, 2},
		{"malformed", "", 422, nil, engine.BadRequest, 0, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			g := open(t, func(w http.ResponseWriter, _ *http.Request) {
				maps.Copy(w.Header(), test.header)
				w.WriteHeader(test.status)
				io.WriteString(w, test.body)
			})
			ctx, giveUp := context.WithCancel(t.Context())
			turn := g.Begin(giveUp)
			for n := 1; n <= test.tries; n++ {
				if ctx.Err() != nil {
					t.Fatalf("given up before request %d", n)
				}
				if status, body := ask(t, g, "X-Api-Key", g.Token); status != test.status || body != strings.ReplaceAll(test.body, key, g.Token) {
					t.Errorf("the CLI sees %d %q", status, body)
				}
			}
			refusal, refused := turn.Refused()
			if !refused || refusal.Class() != test.class || refusal.RetryAfter != test.after {
				t.Errorf("refusal = %+v of class %s", refusal, refusal.Class())
			}
			if message := g.Redact(refusal.Message + g.Token); strings.Contains(message, key) || strings.Contains(message, g.Token) {
				t.Errorf("the key is in the message: %s", message)
			}
			if !turn.GaveUp() || ctx.Err() == nil {
				t.Errorf("not given up after %d requests", test.tries)
			}
		})
	}
}

// TestAnswersThatAreBrokenOff in words, each API's own, are refusals too: also where each of
// them has begun well.
func TestAnswersThatAreBrokenOff(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		says  string
		class engine.Class
		tries int
	}{
		"messages": {`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, engine.Overloaded, 4},
		"messages, no credit": {`{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}`,
			engine.Billing, 2},
		"google": {`{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`, engine.Overloaded, 4},
		"google, declined": {`{"candidates":[{"finishReason":"PROHIBITED_CONTENT"}],"usageMetadata":{"promptTokenCount":9}}`,
			engine.Refusal, 2},
		"responses": {`{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"Rate limit reached"}}}`,
			engine.RateLimited, 4},
		"responses, alone":     {`{"type":"error","code":"invalid_api_key","message":"Incorrect API key"}`, engine.Auth, 2},
		"chat":                 {`{"error":{"message":"it failed","type":"server_error","code":null}}`, engine.Server, 4},
		"chat, with a status":  {`{"error":{"message":"it is late","code":408}}`, engine.Network, 4},
		"in words not known":   {`{"type":"error","error":{"type":"novelty","message":"?"}}`, engine.Server, 4},
		"in words for context": {`{"type":"response.failed","response":{"error":{"code":"context_length_exceeded"}}}`, engine.ContextOverflow, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := open(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprintf(w, "data: {\"type\":\"response.created\",\"response\":{\"error\":null}}\n\ndata: %s\n\n", test.says)
			})
			ctx, giveUp := context.WithCancel(t.Context())
			turn := g.Begin(giveUp)
			for n := 1; n <= test.tries; n++ {
				if ctx.Err() != nil {
					t.Fatalf("given up before request %d", n)
				}
				ask(t, g, "X-Api-Key", g.Token)
			}
			if refusal, refused := turn.Refused(); !refused || refusal.Class() != test.class || ctx.Err() == nil {
				t.Errorf("refusal = %+v of class %s; want %s, and the turn given up", refusal, refusal.Class(), test.class)
			}
		})
	}
}

// TestARefusalWithoutEnd is passed on as far as it comes.
func TestARefusalWithoutEnd(t *testing.T) {
	t.Parallel()
	g := open(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		io.WriteString(w, "it is")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	turn := g.Begin(func() { t.Error("given up") })
	if status, body := ask(t, g, "X-Api-Key", g.Token); status != http.StatusServiceUnavailable || body != "it is" {
		t.Errorf("the CLI sees %d %q", status, body)
	}
	if refusal, refused := turn.Refused(); !refused || refusal.Class() != engine.Overloaded {
		t.Errorf("refusal = %+v", refusal)
	}
}

func TestAnswerEndsARowOfRefusals(t *testing.T) {
	t.Parallel()
	var n atomic.Int32
	g := open(t, func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1)%3 != 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	turn := g.Begin(func() { t.Error("given up") })
	for range 12 {
		ask(t, g, "X-Api-Key", g.Token)
	}
	if refusal, refused := turn.Refused(); refused {
		t.Errorf("refused with %+v after an answer", refusal)
	}
}

// TestASessionWaitsForAMinute once it has had an answer: what it has read would be lost. The CLI does the waiting, and
// is known to be alive meanwhile. If the provider wants more than that, the turn is given up.
func TestASessionWaitsForAMinute(t *testing.T) {
	t.Parallel()
	var seconds atomic.Int32
	g := open(t, func(w http.ResponseWriter, _ *http.Request) {
		if wait := seconds.Load(); wait > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(wait)))
			w.WriteHeader(http.StatusTooManyRequests)
		}
	})
	g.Begin(func() { t.Error("given up") })
	ask(t, g, "X-Api-Key", g.Token)

	ctx, giveUp := context.WithCancel(t.Context())
	turn := g.Begin(giveUp)
	seconds.Store(60)
	ask(t, g, "X-Api-Key", g.Token)
	if ctx.Err() != nil {
		t.Fatal("given up after a minute's wait")
	}
	late := time.After(await.Patience)
	for alive := range 5 {
		select {
		case <-g.Alive:
		case <-late:
			t.Fatalf("%d signs of life", alive)
		}
	}
	seconds.Store(61)
	ask(t, g, "X-Api-Key", g.Token)
	if refusal, _ := turn.Refused(); ctx.Err() == nil || refusal.RetryAfter != 61*time.Second {
		t.Errorf("not given up after %+v", refusal)
	}
}

// TestARefusalWithoutATime says after how long to ask again, once the session has begun: a CLI's own waits are shorter than
// an overload. Before that, and if the provider says it or will answer no later either, nothing is added.
func TestARefusalWithoutATime(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		status     int
		said, told string
		begun      bool
	}{
		{status: 529, begun: true, told: "20"},
		{status: 503, begun: true, told: "20"},
		{status: 429, begun: true, told: "20"},
		{status: 529, said: "3", begun: true, told: "3"},
		{status: 429, said: "0", begun: true, told: "0"},
		{status: 500, begun: true},
		{status: 401, begun: true},
		{status: 529},
	} {
		var refuses atomic.Bool
		g := open(t, func(w http.ResponseWriter, _ *http.Request) {
			if !refuses.Load() {
				return
			}
			if test.said != "" {
				w.Header().Set("Retry-After", test.said)
			}
			w.WriteHeader(test.status)
		})
		g.Begin(func() { t.Errorf("%+v: given up", test) })
		if test.begun {
			ask(t, g, "X-Api-Key", g.Token)
		}
		refuses.Store(true)
		turn := g.Begin(func() { t.Errorf("%+v: given up", test) })
		response := send(t, http.MethodPost, g.URL+"/messages", question, "X-Api-Key", g.Token)
		if told := response.Header.Get("Retry-After"); response.StatusCode != test.status || told != test.told {
			t.Errorf("%+v: the CLI sees %d, and is to wait for %q", test, response.StatusCode, told)
		}
		if refusal, _ := turn.Refused(); strconv.Itoa(int(refusal.RetryAfter.Seconds())) != cmp.Or(test.said, "0") {
			t.Errorf("%+v: the provider is said to have asked for %s", test, refusal.RetryAfter)
		}
	}
}

func TestOnlyTheModelsRefusalsCount(t *testing.T) {
	t.Parallel()
	g := open(t, http.NotFound)
	turn := g.Begin(func() { t.Error("given up") })
	for range 5 {
		if response := send(t, http.MethodGet, g.URL+"/models", "", "X-Api-Key", g.Token); response.StatusCode != http.StatusNotFound {
			t.Errorf("status = %d", response.StatusCode)
		}
	}
	if refusal, refused := turn.Refused(); refused {
		t.Errorf("refused with %+v", refusal)
	}
}

func TestConnectionsThatBreak(t *testing.T) {
	t.Parallel()
	g := open(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "half an ")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	ctx, giveUp := context.WithCancel(t.Context())
	turn := g.Begin(giveUp)
	for range 4 {
		if _, body := ask(t, g, "X-Api-Key", g.Token); body != "broken off" {
			t.Errorf("the CLI sees %q as a whole answer", body)
		}
	}
	<-ctx.Done()
	if refusal, refused := turn.Refused(); !refused || refusal.Class() != engine.Network {
		t.Errorf("refusal = %+v", refusal)
	}
}

func TestBytesAreHeardAtOnce(t *testing.T) {
	t.Parallel()
	more := make(chan struct{})
	g := open(t, func(w http.ResponseWriter, r *http.Request) {
		for range 2 {
			io.WriteString(w, "data: x\n\n")
			_ = http.NewResponseController(w).Flush()
			select {
			case <-more:
			case <-r.Context().Done():
			}
		}
	})
	g.Begin(func() {})
	lines := bufio.NewReader(send(t, http.MethodPost, g.URL+"/messages", question, "X-Api-Key", g.Token).Body)
	for range 2 {
		if line, err := lines.ReadString('\n'); err != nil || line != "data: x\n" {
			t.Fatalf("%q, %v", line, err)
		}
		if _, err := lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		<-g.Alive
		more <- struct{}{}
	}
}

// TestARedirectionIsNotFollowed by the CLI, which would send the prompt to somewhere else, and without a key.
func TestARedirectionIsNotFollowed(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusMovedPermanently, http.StatusPermanentRedirect} {
		var followed atomic.Int32
		elsewhere := serve(t, func(http.ResponseWriter, *http.Request) { followed.Add(1) })
		account := usage.Open(engine.Request{}, nil)
		g := openAt(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere+r.URL.Path+"?key="+key, status)
		}), account)
		turn := g.Begin(func() {})
		where := elsewhere + "/responses;"
		if got, said := ask(t, g, "X-Api-Key", g.Token); got != http.StatusBadGateway || !strings.Contains(said, where) || followed.Load() > 0 {
			t.Errorf("%d: the CLI got %d %q and asked elsewhere %d times", status, got, said, followed.Load())
		}
		if refusal, _ := turn.Refused(); refusal.Class() != engine.Network || !strings.Contains(refusal.Message, where) {
			t.Errorf("%d: it is known as %s: %s", status, refusal.Class(), refusal.Message)
		}
		if sum := account.Sum(); sum.Answers > 0 || sum.CostUSD > 0 {
			t.Errorf("%d: it counts as an answer: %+v", status, sum)
		}
	}
}

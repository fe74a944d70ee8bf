package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"touchstone/agent/engine"
	"touchstone/agent/engine/usage"
	"touchstone/worktree/lazyregexp"
)

// Turn records how the requests of one turn were answered.
type Turn struct {
	giveUp context.CancelFunc

	mu       sync.Mutex
	refusals int
	last     Refusal
	gaveUp   bool
	retries  int
	over     *engine.Error
	// expected says that the CLI will repeat the request that was refused last, after wait if it was told so. reported says
	// that the session knows that.
	expected, reported bool
	wait               time.Duration
	// begun says that an answer has begun in the session, in this turn or earlier. whole says that one was complete in
	// this turn.
	begun, whole bool
}

// locked calls do if there is a turn. Without a gateway there is none, and nothing is known.
func (t *Turn) locked(do func()) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	do()
}

// Refused returns the last refusal, if the provider has not answered since.
func (t *Turn) Refused() (last Refusal, refused bool) {
	t.locked(func() { last, refused = t.last, t.refusals > 0 })
	return last, refused
}

// GaveUp reports whether the turn was ended because of too many refusals.
func (t *Turn) GaveUp() (gaveUp bool) {
	t.locked(func() { gaveUp = t.gaveUp })
	return gaveUp
}

// Retries counts the requests that followed a refusal.
func (t *Turn) Retries() (n int) {
	t.locked(func() { n = t.retries })
	return n
}

// Over says why the turn was ended before another request to the provider; nil if it was not.
func (t *Turn) Over() (over *engine.Error) {
	t.locked(func() { over = t.over })
	return over
}

// exhaust ends the turn, since its session may not continue.
func (t *Turn) exhaust(over *engine.Error) {
	t.locked(func() {
		if t.over == nil {
			t.over = over
			t.giveUp()
		}
	})
}

// deny records that a request was not passed on. It does not end the turn, since a command of the session may
// have sent the request.
func (t *Turn) deny(err error) {
	t.locked(func() {
		if t.refusals == 0 { // otherwise the provider's refusal says more
			t.refusals = 1
			t.last = Refusal{Status: http.StatusForbidden, Message: err.Error(), own: true}
		}
	})
}

// ask records the start of a request.
func (t *Turn) ask() {
	t.locked(func() {
		if t.refusals > 0 {
			t.retries++
		}
		t.expected = false
	})
}

// accept ends a series of refusals. After an answer that broke off, only a complete answer ends the series,
// since an answer that will break off also begins well.
func (t *Turn) accept(whole bool) {
	t.locked(func() {
		if whole || !t.last.late {
			t.refusals = 0
		}
		t.begun, t.whole = true, t.whole || whole
	})
}

// answered reports whether the provider has answered completely and refused nothing since.
func (t *Turn) answered() (answered bool) {
	t.locked(func() { answered = t.whole && t.refusals == 0 })
	return answered
}

// refuse records a refusal. It reports whether the turn goes on, since the CLI may ask again, and how long the CLI is told to
// wait before that; zero if it is not. Untold says that the provider has not told it, and that the gateway still can: it does so
// once the session has begun, which has lost all that it has read if it ends.
func (t *Turn) refuse(r Refusal, untold bool) (wait time.Duration, goesOn bool) {
	// If waiting does not help, the CLI should report the refusal at once and not retry.
	limit := 2
	if r.passing() {
		limit = maxRefusals
	}
	t.locked(func() {
		t.refusals++
		t.last = r
		longest := maxWait
		if t.begun {
			longest = maxWaitBegun
		}
		if (t.refusals >= limit || r.passing() && r.RetryAfter > longest) && !t.gaveUp {
			t.gaveUp = true
			t.giveUp()
		}
		if wait = min(r.RetryAfter, maxWaitBegun); untold && t.begun && (r.Class() == engine.RateLimited || r.Class() == engine.Overloaded) {
			wait = untoldWait
		}
		goesOn = !t.gaveUp
		t.wait, t.expected, t.reported = wait, goesOn, false
	})
	return wait, goesOn
}

// Refusal is a request that the provider or the gateway did not answer. A Status of zero means that the
// connection failed or broke.
type Refusal struct {
	Status int
	// Kind is the code or type of the provider's error. Message is its text.
	Kind, Message string
	// RetryAfter is how long the provider wants to wait before a retry; zero if it does not say.
	RetryAfter time.Duration

	// own says that the gateway refused, and not the provider. late says that the provider had begun to
	// answer.
	own, late bool
}

// brokenOff is the refusal for an answer that the provider ended with an error.
func brokenOff(f usage.Fault) Refusal {
	return Refusal{Status: cmp.Or(f.Status, statuses[f.Kind], http.StatusInternalServerError), Kind: f.Kind, Message: f.Message, late: true}
}

// statuses are the HTTP statuses with which providers refuse for the same reason before they begin to answer.
// An unknown reason counts as the provider's own failure.
var statuses = map[string]int{
	"invalid_api_key": 401, "authentication_error": 401, "permission_error": 403,
	"insufficient_quota": 429, "billing_error": 402,
	"rate_limit_exceeded": 429, "rate_limit_error": 429,
	"content_filter":       400,
	"server_is_overloaded": 503, "slow_down": 503, "overloaded_error": 529,
	"model_not_found": 404, "not_found_error": 404,
	"context_length_exceeded": 400, "request_too_large": 413, "invalid_prompt": 400, "invalid_value": 400, "invalid_request_error": 400,
}

func refusalOf(response *http.Response, body []byte) Refusal {
	r := Refusal{Status: response.StatusCode, RetryAfter: retryAfter(response.Header.Get("Retry-After"))}
	var said struct {
		Error struct {
			Type, Message string
			// Status and Details are fields of the Gemini API (https://google.aip.dev/193).
			Code, Status any
			Details      []struct {
				RetryDelay string `json:"retryDelay"`
			}
		}
	}
	if json.Unmarshal(body, &said) != nil {
		r.Message = string(body)
		return r
	}
	r.Kind, r.Message = said.Error.Type, said.Error.Message
	if code, ok := said.Error.Code.(string); ok && code != "" {
		r.Kind = code
	}
	if status, ok := said.Error.Status.(string); ok {
		r.Kind = cmp.Or(r.Kind, status)
	}
	for _, detail := range said.Error.Details {
		if wait, err := time.ParseDuration(detail.RetryDelay); err == nil {
			r.RetryAfter = max(r.RetryAfter, min(wait, maxRetryAfter))
		}
	}
	return r
}

// maxRetryAfter is the longest wait that is accepted from a provider.
const maxRetryAfter = 24 * time.Hour

// retryAfter reads the header in either of its forms (https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3),
// up to a day.
func retryAfter(value string) time.Duration {
	wait := time.Duration(0)
	if seconds, err := strconv.Atoi(value); err == nil {
		wait = time.Duration(min(seconds, 24*60*60)) * time.Second
	} else if at, err := http.ParseTime(value); err == nil {
		wait = time.Until(at)
	}
	return min(max(wait, 0), maxRetryAfter)
}

// passing reports whether a retry may help.
func (r Refusal) passing() bool {
	return slices.Contains([]engine.Class{engine.RateLimited, engine.Overloaded, engine.Server, engine.Network}, r.Class())
}

// ofLogin matches the kinds of refusals that a login gets for every request.
var ofLogin = lazyregexp.New(`(?i)permission|authentication|api_key|unsupported_country|account|organization`)

// Class classifies the refusal, first by the provider's own words
// (https://platform.openai.com/docs/guides/error-codes, https://docs.anthropic.com/en/api/errors,
// https://ai.google.dev/gemini-api/docs/troubleshooting), then by the status.
func (r Refusal) Class() engine.Class {
	words := strings.ToLower(r.Kind + " " + r.Message)
	says := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(words, part) })
	}
	status := r.Status
	switch {
	case r.own:
		return engine.Invalid
	case status == 0:
		return engine.Network
	case status == 402 || says("insufficient_quota", "credit balance", "credits are depleted", "billing_"):
		return engine.Billing
	case status == 413 || status < 500 && says("context_length_exceeded", "prompt is too long", "context window", "context limit",
		"context length", "context size", "request too large", "exceeds the maximum number of tokens"):
		return engine.ContextOverflow
	case status < 500 && says("content_policy", "content_filter"):
		return engine.Refusal
	// A firewall before a provider may answer 403 because of a request's content. Some providers call a wrong
	// key a bad request.
	case status == 401 || status == 403 && ofLogin.MatchString(r.Kind) || status == 400 && says("api key", "invalid_api_key"):
		return engine.Auth
	// OpenAI restricts some models to verified organizations.
	case says("model_not_found", "organization must be verified") ||
		status == 400 && says("model") && says("does not exist", "invalid model") ||
		status == 404 && says("model", "deployment", "endpoints found"):
		return engine.UnknownModel
	// A wrong address, a proxy that requires a login, and temporary conditions.
	case status == 404 || status == 407 || status == 408 || status == 409 || status == 425:
		return engine.Network
	case status == 429:
		return engine.RateLimited
	case status == 503 || status == 529:
		return engine.Overloaded
	case status >= 500:
		return engine.Server
	}
	return engine.BadRequest
}

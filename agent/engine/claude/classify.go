package claude

import (
	"net/http"

	"touchstone/agent/engine"
	"touchstone/agent/engine/gateway"
)

// classify returns the failure that the result line reports, or nil. It ignores the subtype and the exit
// status: the subtype of a rejected login is "success", and the exit status of an interrupted session is 0.
// Only a session that reports that it completed without an error succeeded.
func (t *turn) classify(fail func(engine.Class, string) *engine.Error) *engine.Error {
	r := t.result
	switch string(r.IsError) {
	case "true":
	case "false":
		if r.TerminalReason == "completed" {
			return nil
		}
	default:
		return engine.Errorf(engine.BadOutput, "claude's result does not say whether the session failed; update claude")
	}
	failure := fail(t.class(), t.Detail(r.Result))
	if failure.Class == engine.RateLimited || failure.Class == engine.Overloaded {
		failure.RetryAfter = max(failure.RetryAfter, t.retry.retryDelay())
	}
	return failure
}

// class evaluates the CLI's fields from the most precise to the least precise.
func (t *turn) class() engine.Class {
	r := t.result
	switch {
	case r.StopReason == "refusal":
		return engine.Refusal
	case r.TerminalReason == "blocking_limit" && t.first && !t.answered:
		// The CLI estimates the prompt's tokens and does not ask the provider if they exceed the context window of the
		// model: 2,931,000 characters for one of a million tokens (seen in 2.1.329).
		return engine.PromptTooLarge
	case r.TerminalReason == "prompt_too_long", r.TerminalReason == "blocking_limit", t.stop == "model_context_window_exceeded":
		return engine.ContextOverflow
	case r.TerminalReason == "max_turns":
		return engine.MaxTurns
	case r.TerminalReason == "budget_exhausted":
		return engine.Budget
	case t.failure.APIError == "connection_failed":
		return engine.Network
	}
	return classOf(t.failure.Error, r.APIErrorStatus)
}

// classOf reads the CLI's own names of API errors, then the HTTP status.
func classOf(name string, status int) engine.Class {
	switch name {
	case "authentication_failed", "oauth_org_not_allowed":
		return engine.Auth
	case "billing_error":
		return engine.Billing
	case "rate_limit":
		return engine.RateLimited
	case "overloaded":
		return engine.Overloaded
	case "model_not_found":
		return engine.UnknownModel
	case "max_output_tokens":
		return engine.BadOutput
	}
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return engine.Auth
	case status == http.StatusNotFound:
		return engine.UnknownModel
	case status >= http.StatusBadRequest:
		return gateway.Refusal{Status: status}.Class()
	case name == "server_error" || name == "unknown":
		// An API error without a status means that no server answered.
		return engine.Network
	}
	return engine.BadOutput
}

package session

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"touchstone/agent/engine"
)

// sentences say what happened and what to do. {cli} stands for the CLI's name, {login} for how to give it a
// login.
var sentences = map[engine.Class]string{
	engine.Auth:        "the provider refused {cli}'s login, or there is none; {login}",
	engine.Billing:     "the account behind {cli}'s login has no credit left; add some, or use another login",
	engine.RateLimited: "the quota of {cli}'s login is used up for now; wait, or use another login",
	engine.Overloaded:  "the provider is overloaded; it usually passes within minutes",
	engine.Server:      "the provider failed; it usually passes within minutes",
	engine.Network: "the provider could not be reached or the connection broke; check the network, the proxy and the provider's " +
		"address",
	engine.UnknownModel:    "the provider does not know this model, or this account may not use it; choose another one",
	engine.ContextOverflow: "the session exceeded the model's context window; give it less to do, or choose a model with a larger one",
	engine.PromptTooLarge:  "the prompt is too large for {cli} or for the model's context window; " + tooLarge,
	engine.Refusal:         "the model declined to continue with this session",
	engine.BadRequest:      "the provider calls the request malformed; asking again will not help",
	engine.MaxTurns:        "the session used up its turns; allow it more, or give it less to do",
	engine.Budget:          "the session used up its budget; raise it, or give it less to do",
}

// tooLarge is what to do about a prompt that is too large.
const tooLarge = "split the change into smaller ones, or choose an engine or a model that accepts longer prompts"

// checkPrompt says why a prompt is too large for the CLI.
func (k Kind) checkPrompt(prompt string) error {
	if len(prompt) > engine.MaxPrompt {
		return engine.Errorf(engine.PromptTooLarge, "the prompt is too large: it has %d bytes, and at most %d can be passed on; %s", len(prompt),
			engine.MaxPrompt, tooLarge)
	}
	if n := utf8.RuneCountInString(prompt); k.MaxPrompt > 0 && n > k.MaxPrompt {
		return engine.Errorf(engine.PromptTooLarge, "the prompt is too large: it has %d characters, and %s accepts at most %d; %s", n, k.Name,
			k.MaxPrompt, tooLarge)
	}
	return nil
}

// Failure is the error of a turn that failed with a class. Detail, if any, is the CLI's message.
func (k Kind) Failure(class engine.Class, detail string) *engine.Error {
	message := k.Name + " did not complete the session"
	if sentence, ok := sentences[class]; ok {
		message = strings.NewReplacer("{cli}", k.Name, "{login}", k.Login).Replace(sentence)
	}
	if detail != "" {
		message += fmt.Sprintf(" (%s: %s)", k.Name, detail)
	}
	return &engine.Error{Class: class, Message: message}
}

// Crash is the error of a turn whose CLI ended without a result. If the CLI rejected its arguments before it
// began, its version is one that this program does not know.
func (k Kind) Crash(t *Transcript, exit, stderr string, begun bool) *engine.Error {
	said := string(printable(stderr))
	refused := func(words string) bool { return strings.Contains(said, words) }
	detail := t.Detail(stderr)
	if !begun && slices.ContainsFunc(k.Refuses, refused) {
		return engine.Errorf(engine.Invalid, "%s does not accept a flag or a setting that it is started with (%s): its version is one that "+
			"this program does not know; update this program, or install a version of %s that it knows, %s or newer; it said: %s",
			k.Name, exit, k.Package, k.Least, detail)
	}
	failure := engine.Errorf(engine.Crash, "%s ended (%s) before the session was over", k.Name, exit)
	if detail != "" {
		failure.Message += "; it said: " + detail
	}
	return failure
}

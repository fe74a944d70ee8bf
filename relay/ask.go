package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"unicode"

	"touchstone/relay/client"
	"touchstone/relay/event"
)

// ask sends a request to a running relay, with the token in RELAY_TOKEN and, if it is not nil, a JSON body,
// and decodes the answer. It has no timeout: some requests take long.
func ask(ctx context.Context, method, relay, path string, body, answer any) error {
	c := client.Client{URL: relay, Token: os.Getenv("RELAY_TOKEN")}
	if err := c.Validate(""); err != nil {
		return usageError{err}
	}
	err := c.Ask(ctx, method, path, body, answer)
	refusal := (*client.StatusError)(nil)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refusal) && refusal.Code == http.StatusUnauthorized:
		return errors.New(printable(refusal.Error()) + "; set RELAY_TOKEN to a valid access token, such as the one that touchstone join wrote " +
			"beside agent.yaml, into relay-token or, as administrator, into relay-admin-token")
	case errors.As(err, &refusal):
		return errors.New(printable(refusal.Error()))
	}
	return fmt.Errorf("%w; check that the address is a relay's and that the relay is running", err)
}

// printable drops characters from a sender's text that could control a terminal, or make it show the text in
// a different order.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
}

// whose returns who made the settings, for people.
func whose(settings event.Settings) string {
	if settings.By == "" {
		return "someone without an access token, on an older relay"
	}
	return printable(settings.By)
}

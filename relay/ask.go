package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"touchstone/relay/client"
)

// ask sends a running relay a request, with the token in RELAY_TOKEN and, if there is
// any, a body in JSON, and reads its answer. What takes time takes as long as it takes.
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
	case errors.As(err, &refusal):
		return errors.New(printable(refusal.Error()))
	}
	return fmt.Errorf("%w; is that a relay, and is it running?", err)
}

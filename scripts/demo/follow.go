package main

import (
	"context"
	"errors"
	"fmt"

	"touchstone/relay/client"
	"touchstone/relay/event"
)

// errDone ends the following of the relay.
var errDone = errors.New("the story is at its end")

// follow opens the pull request and tells the relay's events until it is
// merged.
func (d *demo) follow(ctx context.Context, s *story) error {
	if err := d.github.open(ctx); err != nil {
		return fmt.Errorf("open the pull request: %w", err)
	}
	d.out.header()
	follower := client.Client{URL: d.relay}
	err := follower.Follow(ctx, "oldest", func(_ context.Context, m event.Message) error {
		if m.Event == nil {
			return nil
		}
		err := s.hear(*m.Event)
		if err == nil && (s.merge != "" || s.stuck != "") {
			err = errDone
		}
		return err
	})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case s.stuck != "":
		return fmt.Errorf("%s", s.stuck)
	case !errors.Is(err, errDone):
		return fmt.Errorf("follow the relay: %w", err)
	}
	return d.confirm(ctx, s)
}

// confirm asks GitHub itself whether the pull request is merged: the relay's
// events are what was said.
func (d *demo) confirm(ctx context.Context, s *story) error {
	pull, err := d.github.pull(ctx, s.number)
	if err != nil {
		return fmt.Errorf("ask GitHub for the end of the story: %w", err)
	}
	if !pull.Merged {
		return errors.New("the pull request is not merged, although an event said so")
	}
	return nil
}

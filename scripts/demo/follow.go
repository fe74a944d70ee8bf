package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"touchstone/relay/client"
	"touchstone/relay/event"
	"touchstone/verdict/decide"
)

var (
	// errDone ends following the relay.
	errDone = errors.New("the story is at its end")
	// errStuck ends a demo in which no agent continues.
	errStuck = errors.New("the pull request was not merged")
	// errLate ends a demo that takes too long.
	errLate = errors.New("the pull request was not merged in time")
)

// follow opens the pull request and reports the relay's events until it is merged.
func (d *demo) follow(ctx context.Context) (*story, error) {
	if err := d.github.open(ctx, !d.app); err != nil {
		return nil, fmt.Errorf("open the pull request: %w", err)
	}
	d.out.header()
	token, err := d.relayToken()
	if err != nil {
		return nil, fmt.Errorf("find the relay's token: %w", err)
	}
	s := &story{out: d.out, rounds: map[string]int{}}
	follower := client.Client{URL: d.relay, Token: token, Filter: event.Filter{Types: []string{"pull_request", "pull_request_review",
		"check_run"}}}
	err = follower.Follow(ctx, "oldest", func(_ context.Context, m event.Message) error {
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
	case s.stuck != "":
		return nil, fmt.Errorf("%w: %s", errStuck, s.stuck)
	case !errors.Is(err, errDone):
		return nil, fmt.Errorf("follow the relay: %w", err)
	}
	return s, d.confirm(ctx, s)
}

// agentLogs returns the ends of the agents' logs.
func (d *demo) agentLogs() string {
	var logs strings.Builder
	for _, p := range d.running {
		if p.name == string(decide.Reviewer) || p.name == string(decide.Author) {
			fmt.Fprintf(&logs, "\nThe end of the %s's log:\n%s", p.name, tail(p.log))
		}
	}
	return logs.String()
}

// confirm asks GitHub itself whether the pull request is merged: the relay's events only report it.
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

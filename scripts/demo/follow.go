package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"touchstone/relay/client"
	"touchstone/relay/event"
	"touchstone/verdict/decide"
	"touchstone/worktree/steps"
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
func (d *demo) follow(ctx context.Context) *story {
	d.github.open(ctx, !d.app)
	d.out.header()
	s := &story{out: d.out, rounds: map[string]int{}}
	follower := client.Client{URL: d.relay, Token: d.relayToken(), Filter: event.Filter{Types: []string{"pull_request", "pull_request_review",
		"check_run"}}}
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
	case s.stuck != "":
		steps.Fail("%w: %s", errStuck, s.stuck)
	case !errors.Is(err, errDone):
		steps.Fail("follow the relay: %w", err)
	// The relay's events only report it; GitHub itself knows.
	case !d.github.pull(ctx, s.number).Merged:
		steps.Fail("the pull request is not merged, although an event said so")
	}
	return s
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

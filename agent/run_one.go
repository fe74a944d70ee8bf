package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"touchstone/agent/config"
	"touchstone/agent/daemon"
	"touchstone/agent/forge"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// single is one pull request to look after, and the configuration of who takes the other role.
type single struct{ pr, with string }

// onePoll is the time between two looks at one pull request where no relay tells of it.
const onePoll = config.Duration(5 * time.Second)

// runOne looks after one pull request until it is done or needs a person.
func runOne(cmd *cobra.Command, s *settings, one single, mode string, autoMerge bool) error {
	cfg, err := s.load(cmd)
	if err != nil {
		return err
	}
	cfg.Merge.Auto = cfg.Merge.Auto && autoMerge
	var repo forge.Repo
	if len(cfg.Repositories) == 1 {
		if repo, err = forge.ParseRepo(cfg.Repositories[0]); err != nil {
			return err
		}
	}
	ref, err := forge.ParseRef(one.pr, repo)
	if err != nil {
		return usage(cmd, err)
	}
	ctx := s.logger(cmd.Context(), cfg)
	role := decide.Role(mode)
	if role == "" {
		if role, err = roleOf(ctx, cfg); err != nil {
			return err
		}
	}
	if role != decide.Reviewer && role != decide.Author {
		return usage(cmd, fmt.Errorf("--mode is %q but has to be reviewer or author", mode))
	}
	first, closeFirst, err := only(ctx, cfg, role, ref)
	if err != nil {
		return err
	}
	defer closeFirst()
	first.Ends = true
	if one.with == "" {
		return told(cmd, ref, first.Run(ctx))
	}
	other := *s
	other.configPath = one.with
	// The environment's token is the first login's.
	other.getenv = func(name string) string {
		if name == "GITHUB_TOKEN" {
			return ""
		}
		return os.Getenv(name)
	}
	if cfg, err = other.load(cmd); err != nil {
		return err
	}
	cfg.Merge.Auto = cfg.Merge.Auto && autoMerge
	second, closeSecond, err := only(ctx, cfg,
		map[decide.Role]decide.Role{decide.Reviewer: decide.Author, decide.Author: decide.Reviewer}[role], ref)
	if err != nil {
		return err
	}
	defer closeSecond()
	// The author's agent sees a merge through.
	if role == decide.Reviewer {
		first.Ends, second.Ends = false, true
	}
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() error { return first.Run(ctx) })
	both.Go(func() error { return second.Run(ctx) })
	return told(cmd, ref, both.Wait())
}

// only is a daemon that looks after one pull request.
func only(ctx context.Context, cfg config.Config, role decide.Role, ref forge.Ref) (*daemon.Daemon, func() error, error) {
	cfg.Repositories = []string{ref.Repo.String()}
	if cfg.Relay.URL == "" {
		cfg.Sweep = min(cfg.Sweep, onePoll)
	}
	d, closeAll, err := daemon.New(ctx, cfg, role, version())
	if err == nil {
		d.Only = ref
	}
	return d, closeAll, err
}

// roleOf is the role of the login that a configuration's token belongs to.
func roleOf(ctx context.Context, cfg config.Config) (decide.Role, error) {
	client, err := daemon.Client(cfg, version())
	if err != nil {
		return "", err
	}
	self, err := client.Viewer(ctx)
	if err != nil {
		return "", fmt.Errorf("find out whose token this is: %w", err)
	}
	if verdict.ListsLogin(cfg.Reviewers, self) {
		return decide.Reviewer, nil
	}
	return decide.Author, nil
}

// told tells how it ended with a pull request.
func told(cmd *cobra.Command, ref forge.Ref, err error) error {
	end := (*daemon.Ended)(nil)
	switch {
	case !errors.As(err, &end):
		return err
	case end.Done:
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", ref, end.Reason)
		return nil
	}
	return fmt.Errorf("%s needs a person: %s", ref, end.Reason)
}

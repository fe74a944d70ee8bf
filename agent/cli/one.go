package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"touchstone/agent/compose"
	"touchstone/agent/config"
	"touchstone/agent/daemon"
	"touchstone/agent/forge"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// Single is one pull request to look after, and the configuration file of the other role.
type Single struct{ PR, With string }

// onePoll is the time between two checks of one pull request if no relay reports its changes.
const onePoll = config.Duration(5 * time.Second)

// RunOne looks after one pull request until it is done or needs a person.
func RunOne(cmd *cobra.Command, s *Settings, one Single, mode string, autoMerge bool) error {
	cfg, err := s.Load(cmd)
	if err != nil {
		return err
	}
	cfg.Merge.Auto = cfg.Merge.Auto && autoMerge
	ref, err := ParseRef(cmd, cfg, one.PR)
	if err != nil {
		return err
	}
	ctx := s.Logger(cmd.Context(), cfg)
	role, err := RoleOf(cmd, cfg, mode)
	if err != nil {
		return err
	}
	first, closeFirst, err := only(ctx, cfg, role, ref, one.With != "")
	if err != nil {
		return err
	}
	defer closeFirst()
	if _, err := first.Agent.Read.PullRequest(ctx, ref); errors.Is(err, forge.ErrNotFound) {
		return err
	}
	first.Ends = true
	if one.With == "" {
		return conclude(cmd, ref, first.Run(ctx))
	}
	other := *s
	other.ConfigPath = one.With
	// The token of the environment belongs to the first login.
	other.Getenv = func(name string) string {
		if name == "GITHUB_TOKEN" {
			return ""
		}
		return os.Getenv(name)
	}
	if cfg, err = other.Load(cmd); err != nil {
		return err
	}
	cfg.Merge.Auto = cfg.Merge.Auto && autoMerge
	second, closeSecond, err := only(ctx, cfg,
		map[decide.Role]decide.Role{decide.Reviewer: decide.Author, decide.Author: decide.Reviewer}[role], ref, true)
	if err != nil {
		return err
	}
	defer closeSecond()
	// The author's agent follows the merge to its end.
	if role == decide.Reviewer {
		first.Ends, second.Ends = false, true
	}
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() error { return first.Run(ctx) })
	both.Go(func() error { return second.Run(ctx) })
	return conclude(cmd, ref, both.Wait())
}

// only returns a daemon that looks after one pull request; both says that there is a daemon for the other
// role too. The same command asks the reviewer for the review.
func only(ctx context.Context, cfg config.Config, role decide.Role, ref forge.Ref, both bool) (*daemon.Daemon, func() error, error) {
	cfg.Repositories = []string{ref.Repo.String()}
	if both || role == decide.Reviewer {
		cfg.Review = config.ReviewAll
	}
	if cfg.Relay.URL == "" {
		cfg.Sweep = min(cfg.Sweep, onePoll)
	}
	d, closeAll, err := compose.New(ctx, cfg, role)
	if err == nil {
		d.Only = ref
	}
	return d, closeAll, err
}

// RoleOf returns the role that --mode names or, without it, the role of the login to which the configured
// token belongs.
func RoleOf(cmd *cobra.Command, cfg config.Config, mode string) (decide.Role, error) {
	if mode != "" {
		return Role(cmd, mode)
	}
	client, err := compose.Client(cfg)
	if err != nil {
		return "", err
	}
	self, err := client.Viewer(cmd.Context())
	if err != nil {
		return "", fmt.Errorf("look up the login of the token: %w", err)
	}
	if verdict.ListsLogin(cfg.Reviewers, self) {
		return decide.Reviewer, nil
	}
	return decide.Author, nil
}

// conclude reports how the work on a pull request ended.
func conclude(cmd *cobra.Command, ref forge.Ref, err error) error {
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

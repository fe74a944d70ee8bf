package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"touchstone/agent/cli"
	"touchstone/agent/config"
	"touchstone/agent/doctor"
	"touchstone/agent/setup"
	"touchstone/verdict/decide"
)

func newJoin(s *cli.Settings) *cobra.Command {
	var start starter
	cmd := &cobra.Command{
		Use:   "join LINK",
		Short: "Join a team's relay with an invitation",
		Long: `join exchanges an invitation, which works once, for this machine's access to the relay,
writes agent.yaml and the files beside it, and checks all of it as doctor does. Repeating
it with another invitation changes what that one says, keeps all else, and says what it
changed.

GitHub's login is, in this order, what agent.yaml names already, --github-token-file,
GITHUB_TOKEN, that of gh, and on a terminal a token that you paste. Nothing is asked
where there is no terminal.`,
		Example: `  touchstone join 'https://relay.example.com/join#inv_…'
  touchstone join "$LINK" --github-token-file ~/reviewer.token --service`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("give the invitation's link, in quotes, as touchstone-relay invite create printed it")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			invitation, err := setup.ParseInvitation(args[0])
			if err != nil {
				return cli.Usage(cmd, err)
			}
			start.Settings, start.Dialog = s, cli.NewDialog(cmd)
			// All that can fail does so while the invitation is still good.
			cfg, err := start.prepare(cmd)
			if err != nil {
				return err
			}
			member, err := invitation.Redeem(cmd.Context())
			if err != nil {
				return err
			}
			token := filepath.Join(filepath.Dir(cfg.Path()), "relay-token")
			if err := setup.Save(token, []byte(member.Token+"\n")); err != nil {
				return fmt.Errorf("%w; the invitation is used up, so ask for another one when that is mended", err)
			}
			start.Say("%s is a member of %s, as %s", "this machine", member.Relay, member.Role)
			start.set("relay.url", member.Relay)
			start.set("relay.token_file", filepath.Base(token))
			if member.Role == "admin" {
				return start.write(cfg)
			}
			return start.finish(cmd.Context(), cfg, decide.Role(member.Role), member.Repositories, member.Reviewers)
		},
	}
	start.bind(cmd)
	return cmd
}

func newInit(s *cli.Settings) *cobra.Command {
	var start starter
	var mode string
	var reviewers []string
	cmd := &cobra.Command{
		Use:   "init --mode reviewer|author",
		Short: "Set this machine up without a relay, and a repository's own guidelines",
		Long: `init writes agent.yaml for work without a relay: pull requests are then looked at every
five minutes. In a clone it also makes .touchstone/ with the first guideline document and
settings of the repository's own, for you to edit and commit. What is there already stays.

GitHub's login is found as touchstone join finds it.`,
		Example: `  touchstone init --mode author --repo acme/app --reviewer acme-bot`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			role, err := cli.Role(cmd, mode)
			if err != nil {
				return err
			}
			start.Settings, start.Dialog = s, cli.NewDialog(cmd)
			cfg, err := start.prepare(cmd)
			if err != nil {
				return err
			}
			if top, err := setup.Checkout(cmd.Context(), "."); err == nil {
				made, err := setup.Seed(top)
				if err != nil {
					return err
				}
				for _, file := range made {
					start.Say("%s is new: edit it and commit it", file)
				}
			}
			return start.finish(cmd.Context(), cfg, role, nil, reviewers)
		},
	}
	cmd.Flags().StringVar(&mode, "mode", "", "reviewer or author")
	cmd.Flags().StringArrayVar(&reviewers, "reviewer", nil, "a `login` whose verdicts count (repeatable)")
	start.bind(cmd)
	return cmd
}

// starter sets a machine up: it finds out what is needed, writes it, checks it and has the agent
// started.
type starter struct {
	*cli.Settings
	*cli.Dialog
	tokenFile string
	service   bool
	changes   []setup.Change
}

func (s *starter) bind(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.tokenFile, "github-token-file", "", "`file` with the GitHub token of the login that is to act")
	cmd.Flags().BoolVar(&s.service, "service", false, "have the agent started now and whenever you log in, without asking")
}

// set notes a setting to be written.
func (s *starter) set(key string, value any) {
	s.changes = append(s.changes, setup.Change{Key: key, Value: value})
}

// prepare finds GitHub's login and a model CLI.
func (s *starter) prepare(cmd *cobra.Command) (config.Config, error) {
	cfg, err := s.Load(cmd)
	if err != nil {
		return cfg, err
	}
	if err := s.login(cmd.Context(), cfg); err != nil {
		return cfg, cli.Usage(cmd, err)
	}
	if found := setup.Engine(cfg.Engine); found != cfg.Engine.Name {
		s.set("engine.name", found)
	}
	return cfg, nil
}

// login decides where GitHub's token comes from.
func (s *starter) login(ctx context.Context, cfg config.Config) error {
	switch {
	case s.tokenFile != "":
		path, err := filepath.Abs(s.tokenFile)
		if err == nil {
			_, err = os.Stat(path)
		}
		if err != nil {
			return fmt.Errorf("the file that --github-token-file names: %w", err)
		}
		s.set("github.token_file", path)
		return nil
	case cfg.GitHub.TokenFile != "", len(cfg.GitHub.TokenCommand) > 0:
		return nil
	}
	secret := string(cfg.GitHub.Token) // of the environment, which a service does not have
	if secret == "" && setup.HasGH(ctx) {
		s.set("github.token_command", setup.GHToken)
		return nil
	}
	if secret == "" {
		var err error
		if secret, err = s.Secret("Paste a GitHub token (it is not shown): "); err != nil {
			return fmt.Errorf("there is no login for GitHub: run gh auth login, set GITHUB_TOKEN, or name a file with --github-token-file: %w", err)
		}
	}
	path := filepath.Join(filepath.Dir(cfg.Path()), "github-token")
	s.set("github.token_file", filepath.Base(path))
	return setup.Save(path, []byte(secret+"\n"))
}

// finish writes what was decided, checks it, and has the agent started.
func (s *starter) finish(ctx context.Context, cfg config.Config, role decide.Role, repositories, reviewers []string) error {
	named := slices.Clone(cfg.Repositories)
	for _, repo := range repositories {
		if !strings.ContainsAny(repo, "*?[") && !slices.Contains(named, repo) {
			named = append(named, repo)
		}
	}
	if len(named) == 0 {
		answer, err := s.Ask("Which repositories, as owner/name, with blanks between them? ")
		if named = strings.Fields(answer); err != nil || len(named) == 0 {
			// An invitation is used up by now, and so what it brought is kept.
			return errors.Join(s.write(cfg), fmt.Errorf("no repository is named yet: write `repositories: [owner/name]` into %s, or give --repo, "+
				"and run `touchstone doctor --mode %s`", cfg.Path(), role))
		}
	}
	s.set("repositories", named)
	if len(reviewers) > 0 {
		s.set("reviewers", reviewers)
	}
	if err := s.write(cfg); err != nil {
		return err
	}
	written, err := config.Load(cfg.Path(), os.Getenv)
	if err == nil {
		err = written.Validate()
	}
	if err != nil {
		return err
	}
	found := doctor.Doctor{Config: written, Role: role, Report: doctor.Print(s.Out)}
	found.Examine(ctx)
	if found.Problems > 0 {
		return fmt.Errorf("%d of %d checks found a problem; when they are mended, start with `touchstone run --mode %s`, or `touchstone "+
			"service install --mode %s`",
			found.Problems, len(found.Results), role, role)
	}
	if !s.service {
		s.service = s.Yes(fmt.Sprintf("Start the %s's agent now, and whenever you log in? [Y/n] ", role))
	}
	if !s.service {
		s.Say("start it with `touchstone run --mode %s`, or `touchstone service install --mode %s`", role, role)
		return nil
	}
	return installService(ctx, s.Out, cfg.Path(), role)
}

// write writes the settings and says what that changed.
func (s *starter) write(cfg config.Config) error {
	said, err := setup.Write(cfg.Path(), s.changes)
	if err != nil {
		return err
	}
	if len(said) == 0 {
		s.Say("%s says all of it already", cfg.Path())
		return nil
	}
	s.Say("%s:", cfg.Path())
	for _, sentence := range said {
		s.Say("  %s", sentence)
	}
	return nil
}

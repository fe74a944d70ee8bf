// Package wizard sets this machine up in a dialog: it asks questions, writes the settings, checks them and
// starts the agent.
package wizard

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"touchstone/agent/cli"
	"touchstone/agent/compose"
	"touchstone/agent/config"
	"touchstone/agent/doctor"
	"touchstone/agent/forge"
	"touchstone/agent/setup"
	"touchstone/verdict/decide"
	"touchstone/worktree/githubname"
)

// Machine sets a machine up: it finds out what is needed, writes the settings, checks them and starts the
// agent.
type Machine struct {
	*cli.Settings
	*cli.Dialog
	// App says that the login is an App's, which is created afterwards. Plain says that no agent is to run
	// here, which needs no login and no model.
	App, Plain bool
	tokenFile  string
	service    bool
	// acp is a command that speaks the Agent Client Protocol.
	acp     string
	changes []setup.Change
	// secrets are files to be written, by path.
	secrets map[string]string
}

// Bind adds the flags to a command.
func (s *Machine) Bind(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.tokenFile, "github-token-file", "", "`file` with the GitHub token of the login that is to act")
	cmd.Flags().StringVar(&s.acp, "acp", "", "drive this `command`, which speaks the Agent Client Protocol, such as \"goose acp\" (default a "+
		"model CLI that is here)")
	cmd.Flags().BoolVar(&s.service, "service", false, "have the agent started now and whenever you log in, without asking")
}

// Set records a setting to be written.
func (s *Machine) Set(key string, value any) {
	s.changes = append(s.changes, setup.Change{Key: key, Value: value})
}

// Prepare finds GitHub's login and a model CLI, and checks whether the settings can be written.
func (s *Machine) Prepare(cmd *cobra.Command) (config.Config, error) {
	cfg, err := s.Load(cmd)
	if err != nil {
		return cfg, err
	}
	s.App = s.App && cfg.GitHub.AppID == 0 // else it is created already
	if s.Plain {
		return cfg, setup.Check(cfg.Path(), s.changes)
	}
	if !s.App {
		if err := s.login(cmd.Context(), &cfg); err != nil {
			return cfg, cli.Usage(cmd, err)
		}
		if err := accepted(cmd.Context(), cfg); err != nil {
			return cfg, err
		}
	}
	if command := strings.Fields(s.acp); len(command) > 0 {
		// In the file, a path is relative to the file's directory.
		for i, word := range command {
			if (i == 0 && filepath.Base(word) != word || config.Relative(word)) && !strings.HasPrefix(word, "~/") {
				if command[i], err = filepath.Abs(word); err != nil {
					return cfg, err
				}
			}
		}
		s.changes = append(s.changes, setup.UseEngine(cfg.Engine, "acp")...)
		s.Set("engine.acp.command", command)
	} else if found := setup.Engine(cfg.Engine); found != cfg.Engine.Name {
		s.changes = append(s.changes, setup.UseEngine(cfg.Engine, found)...)
	}
	return cfg, setup.Check(cfg.Path(), s.changes)
}

// patience bounds how long GitHub may take to say whether it knows a token.
const patience = 20 * time.Second

// accepted returns an error if GitHub rejects the token, or if no GitHub has such a token. Anything else that is wrong
// is left to the checks after joining: GitHub may be out of reach for now.
func accepted(ctx context.Context, cfg config.Config) error {
	if cfg.GitHub.Token == "" {
		return nil // a program prints it later
	}
	client, err := compose.Client(cfg)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if _, err = client.Viewer(ctx); errors.Is(err, forge.ErrUnauthorized) {
		return fmt.Errorf("%w; nothing was written, so repeat this with the new one, or, if the token is not for "+
			"%s, with that GitHub's github.api_url in %s", err, cfg.GitHub.APIURL, cfg.Path())
	}
	return nil
}

// login decides where GitHub's token comes from, and puts it into cfg if it is known by now.
func (s *Machine) login(ctx context.Context, cfg *config.Config) error {
	switch {
	case s.tokenFile != "":
		path, err := filepath.Abs(s.tokenFile)
		if err != nil {
			return fmt.Errorf("find the file that --github-token-file names: %w", err)
		}
		cfg.GitHub.Token, cfg.GitHub.Renew = "", "" // the environment's
		if err := cfg.ReadSecret(&cfg.GitHub.Token, "--github-token-file", path); err != nil {
			return err
		}
		s.Set("github.token_file", path)
		return nil
	case cfg.GitHub.TokenFile != "", len(cfg.GitHub.TokenCommand) > 0, cfg.GitHub.AppID != 0:
		return nil
	}
	if cfg.GitHub.Token == "" { // else it is from the environment, which a service does not have
		if command := setup.GHToken(ctx, cfg.GitHub.APIURL); command != nil {
			s.Set("github.token_command", command)
			return nil
		}
		secret, err := s.Secret("Paste a GitHub token (it is not shown): ")
		if err != nil {
			return fmt.Errorf("there is no login for GitHub: run gh auth login, set GITHUB_TOKEN, or name a file with --github-token-file: %w", err)
		}
		cfg.GitHub.Token = config.Secret(secret)
	}
	path := filepath.Join(filepath.Dir(cfg.Path()), "github-token")
	s.Set("github.token_file", filepath.Base(path))
	s.secrets = map[string]string{path: string(cfg.GitHub.Token) + "\n"}
	return nil
}

// Finish writes the settings, checks them and starts the agent.
func (s *Machine) Finish(ctx context.Context, cfg config.Config, role decide.Role, repositories, reviewers []string) error {
	named := slices.Clone(cfg.Repositories)
	for _, repo := range repositories {
		known := func(name string) bool { return strings.EqualFold(name, repo) } // as GitHub compares names
		if !strings.ContainsAny(repo, "*?[") && !slices.ContainsFunc(named, known) {
			named = append(named, repo)
		}
	}
	if len(named) == 0 {
		named = s.names("Which repositories, as owner/name, with blanks between them? ", "repository", githubname.IsRepository)
		if len(named) == 0 {
			// The invitation is used up by now, so its settings are kept.
			return errors.Join(s.Write(cfg), fmt.Errorf("no repository is named yet: write `repositories: [owner/name]` into %s, or give --repo, "+
				"and run `touchstone doctor --mode %s`", cfg.Path(), role))
		}
	}
	s.Set("repositories", named)
	if len(reviewers) == 0 && len(cfg.Reviewers) == 0 && !s.App {
		// Without one the checks say what to do.
		reviewers = s.names("Whose reviews count, as logins with blanks between them? ", "login", githubname.IsLogin)
	}
	if len(reviewers) > 0 {
		s.Set("reviewers", reviewers)
	}
	if err := s.Write(cfg); err != nil {
		return err
	}
	if ctx.Err() != nil { // stopped at a question: each of the checks would fail
		return ctx.Err()
	}
	if s.App && role == decide.Reviewer {
		s.Say("make the App next: RELAY_TOKEN=… touchstone app create --organization NAME, with an administrator's token of the relay's")
		return nil
	}
	return start(ctx, s.Dialog, cfg.Path(), role, s.service)
}

// names asks for names until all given names are valid; it returns none without a terminal.
func (s *Machine) names(question, kind string, valid func(string) bool) []string {
	for {
		answer, err := s.Ask(question)
		names := strings.Fields(answer)
		i := slices.IndexFunc(names, func(name string) bool { return !valid(name) })
		switch {
		case err != nil:
			return nil
		case i < 0:
			return names
		}
		s.Say("%.120q is no %s", names[i], kind)
	}
}

// start checks the settings like doctor, and starts the agent. It asks first unless wanted is set.
func start(ctx context.Context, d *cli.Dialog, path string, role decide.Role, wanted bool) error {
	written, err := config.Load(path, os.Getenv)
	if err == nil {
		err = written.Validate()
	}
	if err != nil {
		return err
	}
	if hides(path, written) {
		d.Say("GITHUB_TOKEN is set here and wins over the login in %s, in these checks too; a service starts with that login: run touchstone "+
			"doctor without GITHUB_TOKEN to check it", path)
	}
	found := doctor.Doctor{Config: written, Role: role, Report: func(c doctor.Result) {
		if !c.OK {
			doctor.Print(d.Out)(c)
		}
	}}
	found.Examine(ctx)
	if found.Problems > 0 {
		return fmt.Errorf("%d of %d checks found a problem; correct them, then start with `touchstone run --mode %s`, or `touchstone "+
			"service install --mode %s`",
			found.Problems, len(found.Results), role, role)
	}
	d.Say("all %d checks of `touchstone doctor` passed", len(found.Results))
	if !wanted {
		wanted = d.Yes(fmt.Sprintf("Start the %s's agent now, and whenever you log in? [Y/n] ", role))
	}
	if !wanted {
		d.Say("start it with `touchstone run --mode %s`, or `touchstone service install --mode %s`", role, role)
		return nil
	}
	agent, err := setup.ServiceOf(role, written)
	if err != nil {
		return err
	}
	return InstallService(ctx, d.Out, agent)
}

// hides reports whether the environment has another GitHub token than the settings at path give without it.
func hides(path string, cfg config.Config) bool {
	if os.Getenv("GITHUB_TOKEN") == "" {
		return false
	}
	// If the token cannot be read without it, the rest tells too that it is another one.
	alone, _ := config.Load(path, func(name string) string {
		if name == "GITHUB_TOKEN" {
			return ""
		}
		return os.Getenv(name)
	})
	return alone.GitHub.Token != cfg.GitHub.Token
}

// Write writes the secrets and the settings, and reports the changes.
func (s *Machine) Write(cfg config.Config) error {
	for path, secret := range s.secrets {
		if err := setup.Save(path, []byte(secret)); err != nil {
			return err
		}
	}
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

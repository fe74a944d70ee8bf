// Package cli holds what the commands share: common flags, exit codes, questions and progress on a terminal,
// and reading one pull request or a repository's history.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"touchstone/agent/compose"
	"touchstone/agent/config"
	"touchstone/agent/forge"
	"touchstone/agent/remoteconfig"
	"touchstone/agent/tempdir"
	"touchstone/agent/terminal"
	"touchstone/agent/worker"
	"touchstone/verdict/decide"
)

// Settings are the flags of every command. Flags take precedence over the environment, which takes precedence
// over the file.
type Settings struct {
	// ConfigPath is the configuration file; empty means the user's own.
	ConfigPath string
	// Repos are the repositories of --repo; empty means the configured ones.
	Repos     []string
	logFormat string
	logLevel  string
	// Getenv reads the environment; nil means os.Getenv.
	Getenv func(string) string
}

// Bind adds the flags to a program.
func (s *Settings) Bind(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.StringVar(&s.ConfigPath, "config", "",
		"configuration `file` (default agent.yaml in the user's configuration directory, if it exists)")
	flags.StringArrayVar(&s.Repos, "repo", nil, "repository as `owner/name`; may be given more than once")
	flags.StringVar(&s.logFormat, "log-format", "", "auto, console or json (default auto: console on a terminal)")
	flags.StringVar(&s.logLevel, "log-level", "", "debug, info, warn or error (default info)")
}

// Load reads the configuration and applies the flags to it.
func (s *Settings) Load(cmd *cobra.Command) (config.Config, error) {
	getenv := s.Getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	cfg, err := config.Load(s.ConfigPath, getenv)
	if err := errors.Join(err, cfg.Validate()); err != nil { // all errors at once
		return cfg, Exit{ExitUsage, err}
	}
	if len(s.Repos) > 0 {
		cfg.Repositories = s.Repos
	}
	cfg.Log.Format, cfg.Log.Level = cmp.Or(s.logFormat, cfg.Log.Format), cmp.Or(s.logLevel, cfg.Log.Level)
	if err := cfg.Validate(); err != nil {
		return cfg, Usage(cmd, err)
	}
	return cfg, nil
}

// Logger returns a context with the logger: readable on a terminal, JSON lines otherwise, always on standard
// error.
func (s *Settings) Logger(ctx context.Context, cfg config.Config) context.Context {
	console := cfg.Log.Format == "console" || cfg.Log.Format == "auto" && terminal.Is(os.Stderr)
	log := zerolog.New(os.Stderr)
	if console {
		plain := os.Getenv("NO_COLOR") != "" || !terminal.Is(os.Stderr)
		log = zerolog.New(zerolog.ConsoleWriter{Out: os.Stderr, TimeFormat: time.TimeOnly, NoColor: plain})
	}
	LogLevel(cfg)
	log = log.With().Timestamp().Logger()
	zerolog.DefaultContextLogger = &log
	for _, warning := range cfg.Warnings {
		log.Warn().Msg(warning)
	}
	return log.WithContext(ctx)
}

// LogLevel sets the level from which messages are logged.
func LogLevel(cfg config.Config) {
	level, err := zerolog.ParseLevel(cfg.Log.Level)
	if err != nil {
		level = zerolog.InfoLevel
	}
	zerolog.SetGlobalLevel(level)
}

// Once runs one action on one pull request in a role. If it posts nothing, any login may run it.
func (s *Settings) Once(cmd *cobra.Command, arg string, role decide.Role, posts bool,
	do func(context.Context, *worker.Agent, forge.PullRequest) error) (err error) {
	var dir *tempdir.Dir
	defer func() {
		if dir != nil {
			err = errors.Join(err, dir.Close())
		}
	}()
	return s.With(cmd, arg, do, func(ctx context.Context, cfg config.Config) (*worker.Agent, error) {
		if dir, err = tempdir.Open(ctx, cfg.StateDir); err != nil {
			return nil, err
		}
		return compose.NewAgent(ctx, config.NewLive(cfg, remoteconfig.Of(ctx, cfg)), role, dir.Path, posts)
	})
}

// With runs one action on one pull request with an agent.
func (s *Settings) With(cmd *cobra.Command, arg string, do func(context.Context, *worker.Agent, forge.PullRequest) error,
	start func(context.Context, config.Config) (*worker.Agent, error)) error {
	cfg, err := s.Load(cmd)
	if err != nil {
		return err
	}
	ref, err := ParseRef(cmd, cfg, arg)
	if err != nil {
		return err
	}
	ctx := s.Logger(cmd.Context(), cfg)
	agent, err := start(ctx, cfg)
	if err != nil {
		return err
	}
	pr, _, err := agent.Look(ctx, ref)
	if err != nil {
		return err
	}
	return do(ctx, agent, pr)
}

// ParseRef parses an argument that names a pull request; a number alone refers to the only configured
// repository.
func ParseRef(cmd *cobra.Command, cfg config.Config, arg string) (forge.Ref, error) {
	var repo forge.Repo
	var err error
	if len(cfg.Repositories) == 1 {
		if repo, err = forge.ParseRepo(cfg.Repositories[0]); err != nil {
			return forge.Ref{}, err
		}
	}
	ref, err := forge.ParseRef(arg, repo)
	if err != nil {
		return ref, Usage(cmd, err)
	}
	return ref, nil
}

// Role parses the value of --mode.
func Role(cmd *cobra.Command, mode string) (decide.Role, error) {
	role := decide.Role(mode)
	if mode == "" {
		return "", Usage(cmd, errors.New("--mode is missing; it must be reviewer or author"))
	}
	if role != decide.Reviewer && role != decide.Author {
		return "", Usage(cmd, fmt.Errorf("--mode is %q but must be reviewer or author", mode))
	}
	return role, nil
}

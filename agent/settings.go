package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"touchstone/agent/config"
	"touchstone/agent/daemon"
	"touchstone/agent/forge"
	"touchstone/agent/remoteconfig"
	"touchstone/agent/tempdir"
	"touchstone/agent/terminal"
	"touchstone/verdict/decide"
)

// settings are the flags that every command takes. Flags win over the
// environment, which wins over the file.
type settings struct {
	configPath string
	repos      []string
	logFormat  string
	logLevel   string
	// getenv reads the environment; nil is os.Getenv.
	getenv func(string) string
}

func (s *settings) bind(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.StringVar(&s.configPath, "config", "",
		"configuration `file` (default agent.yaml in the user's configuration directory, if it is there)")
	flags.StringArrayVar(&s.repos, "repo", nil, "repository as `owner/name`; may be given more than once")
	flags.StringVar(&s.logFormat, "log-format", "", "auto, console or json (default auto: console on a terminal)")
	flags.StringVar(&s.logLevel, "log-level", "", "debug, info, warn or error (default info)")
}

// load reads the configuration and puts the flags on top.
func (s *settings) load(cmd *cobra.Command) (config.Config, error) {
	getenv := s.getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	cfg, err := config.Load(s.configPath, getenv)
	if err := errors.Join(err, cfg.Validate()); err != nil { // all at once
		return cfg, exit{exitUsage, err}
	}
	if len(s.repos) > 0 {
		cfg.Repositories = s.repos
	}
	if s.logFormat != "" {
		cfg.Log.Format = s.logFormat
	}
	if s.logLevel != "" {
		cfg.Log.Level = s.logLevel
	}
	if err := cfg.Validate(); err != nil {
		return cfg, usage(cmd, err)
	}
	return cfg, nil
}

// logger returns a context that carries the logger: readable on a terminal,
// JSON lines otherwise, always on standard error.
func (s *settings) logger(ctx context.Context, cfg config.Config) context.Context {
	console := cfg.Log.Format == "console" || cfg.Log.Format == "auto" && terminal.Is(os.Stderr)
	log := zerolog.New(os.Stderr)
	if console {
		plain := os.Getenv("NO_COLOR") != "" || !terminal.Is(os.Stderr)
		log = zerolog.New(zerolog.ConsoleWriter{Out: os.Stderr, TimeFormat: time.TimeOnly, NoColor: plain})
	}
	logLevel(cfg)
	log = log.With().Timestamp().Logger()
	zerolog.DefaultContextLogger = &log
	for _, warning := range cfg.Warnings {
		log.Warn().Msg(warning)
	}
	return log.WithContext(ctx)
}

// logLevel sets what is logged from now on.
func logLevel(cfg config.Config) {
	level, err := zerolog.ParseLevel(cfg.Log.Level)
	if err != nil {
		level = zerolog.InfoLevel
	}
	zerolog.SetGlobalLevel(level)
}

// once does one thing to one pull request in a role.
func (s *settings) once(cmd *cobra.Command, arg string, role decide.Role,
	do func(context.Context, *daemon.Agent, forge.PullRequest) error) (err error) {
	var dir *tempdir.Dir
	defer func() {
		if dir != nil {
			err = errors.Join(err, dir.Close())
		}
	}()
	return s.with(cmd, arg, do, func(ctx context.Context, cfg config.Config) (*daemon.Agent, error) {
		if dir, err = tempdir.Open(ctx, cfg.StateDir); err != nil {
			return nil, err
		}
		return daemon.NewAgent(ctx, config.NewLive(cfg, remoteconfig.Of(ctx, cfg)), role, dir.Path, version())
	})
}

// with does one thing to one pull request with an agent.
func (s *settings) with(cmd *cobra.Command, arg string, do func(context.Context, *daemon.Agent, forge.PullRequest) error,
	start func(context.Context, config.Config) (*daemon.Agent, error)) error {
	cfg, err := s.load(cmd)
	if err != nil {
		return err
	}
	var repo forge.Repo
	if len(cfg.Repositories) == 1 {
		if repo, err = forge.ParseRepo(cfg.Repositories[0]); err != nil {
			return err
		}
	}
	ref, err := forge.ParseRef(arg, repo)
	if err != nil {
		return usage(cmd, err)
	}
	ctx := s.logger(cmd.Context(), cfg)
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

package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"touchstone/agent/compose"
	"touchstone/agent/forge"
	"touchstone/agent/skill"
)

// completionTimeout is how long a person waits for what a shell completes.
const completionTimeout = 3 * time.Second

// values are what flags take, for a shell to complete, by the flags' names.
var values = map[string][]cobra.Completion{
	"mode":       {"reviewer\treviews what others open", "author\tfixes and merges your own"},
	"log-format": {"auto", "console", "json"},
	"log-level":  {"debug", "info", "warn", "error"},
	"format":     {"text", "json"},
	"by":         {"rule", "model", "tier", "repo"},
	"for":        skill.Programs(),
}

// otherFormats are those of commands that have others than most.
var otherFormats = map[string][]cobra.Completion{
	"touchstone guard":  {"text", "json", "sarif", "github"},
	"touchstone impact": {"text", "json", "mermaid", "dot"},
	"touchstone review": {"text", "json", "sarif", "markdown"},
}

// aboutPull are the commands that are about one pull request.
var aboutPull = []string{"touchstone review", "touchstone fix", "touchstone merge", "touchstone why"}

// Complete has a shell complete the values of a command's flags and arguments, and of those of its
// subcommands. What is no file is never completed as one.
func (s *Settings) Complete(cmd *cobra.Command) {
	for name, known := range values {
		if own, ok := otherFormats[cmd.CommandPath()]; ok && name == "format" {
			known = own
		}
		if cmd.LocalFlags().Lookup(name) != nil {
			// It fails only if it was done before.
			_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(known, cobra.ShellCompDirectiveNoFileComp))
		}
	}
	for name, find := range map[string]cobra.CompletionFunc{"repo": s.repositories, "pr": s.pulls} {
		if cmd.LocalNonPersistentFlags().Lookup(name) != nil || cmd.PersistentFlags().Lookup(name) != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, find)
		}
	}
	if slices.Contains(aboutPull, cmd.CommandPath()) {
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return s.pulls(cmd, args, typed)
		}
	}
	for _, sub := range cmd.Commands() {
		s.Complete(sub)
	}
}

// repositories are those of the configuration.
func (s *Settings) repositories(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	cfg, err := s.Load(cmd)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return cfg.Repositories, cobra.ShellCompDirectiveNoFileComp
}

// pulls are the open pull requests of the configured repositories, as the relay knows them or, without
// one, GitHub.
func (s *Settings) pulls(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	cfg, err := s.Load(cmd)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
	defer cancel()
	var all []cobra.Completion
	add := func(repo string, number int, title string) {
		pull := strconv.Itoa(number)
		if len(cfg.Repositories) != 1 {
			pull = fmt.Sprintf("%s#%d", repo, number)
		}
		all = append(all, cobra.CompletionWithDesc(pull, title))
	}
	if cfg.Relay.URL != "" {
		known, err := AskRelay(ctx, cfg, cfg.Repositories)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		for _, p := range known {
			add(p.Repo, p.Number, p.Title)
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	}
	github, err := compose.Client(cfg)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	for _, name := range cfg.Repositories {
		repo, err := forge.ParseRepo(name)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		open, err := github.OpenPullRequests(ctx, repo)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		for _, p := range open {
			add(name, p.Number, p.Title)
		}
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}

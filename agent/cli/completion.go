package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"touchstone/agent/compose"
	"touchstone/agent/config"
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

// taken are the values that a flag of a command takes; nil for one that takes others.
func taken(cmd *cobra.Command, flag string) []cobra.Completion {
	if own, ok := otherFormats[cmd.CommandPath()]; ok && flag == "format" {
		return own
	}
	return values[flag]
}

// CheckFlags refuses what the flags of a command do not take, whether or not it goes by them.
func CheckFlags(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		given := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			given = list.GetSlice()
		}
		for _, value := range given {
			if wrong := wrong(cmd, f.Name, value); wrong != "" {
				err = errors.Join(err, fmt.Errorf("--%s is %.120q but has to be %s", f.Name, value, wrong))
			}
		}
	})
	return err
}

// wrong says what else the value of a flag has to be; empty where it may be that.
func wrong(cmd *cobra.Command, flag, value string) string {
	var words []string
	for _, known := range taken(cmd, flag) {
		word, _, _ := strings.Cut(known, "\t")
		words = append(words, word)
	}
	switch {
	case words != nil && !slices.Contains(words, value):
		last := len(words) - 1
		return strings.Join(words[:last], ", ") + " or " + words[last]
	case flag == "repo" && !config.IsRepository(value):
		return "a repository, such as acme/app"
	case (flag == "reviewer" || flag == "login") && !config.IsLogin(value):
		return "a login as on GitHub and without an @, such as octocat"
	}
	return ""
}

// Complete has a shell complete the values of a command's flags and arguments, and of those of its
// subcommands. What is no file is never completed as one.
func (s *Settings) Complete(cmd *cobra.Command) {
	for name := range values {
		if cmd.LocalFlags().Lookup(name) != nil {
			// It fails only if it was done before.
			_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(taken(cmd, name), cobra.ShellCompDirectiveNoFileComp))
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

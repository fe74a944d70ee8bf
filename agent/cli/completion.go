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
	"touchstone/agent/forge"
	"touchstone/agent/skill"
	"touchstone/worktree/githubname"
)

// completionTimeout bounds how long a shell completion may take, since a person waits for it.
const completionTimeout = 3 * time.Second

// values are the accepted values of flags, by flag name, for shell completion.
var values = map[string][]cobra.Completion{
	"mode":       {"reviewer\treviews what others open", "author\tfixes and merges your own"},
	"log-format": {"auto", "console", "json"},
	"log-level":  {"debug", "info", "warn", "error"},
	"format":     {"text", "json"},
	"by":         {"rule", "model", "tier", "repo"},
	"for":        skill.Programs(),
}

// otherFormats are the formats of commands that differ from most.
var otherFormats = map[string][]cobra.Completion{
	"touchstone guard":  {"text", "json", "sarif", "github"},
	"touchstone impact": {"text", "json", "mermaid", "dot"},
	"touchstone review": {"text", "json", "sarif", "markdown"},
}

// aboutPull are the commands about one pull request.
var aboutPull = []string{"touchstone review", "touchstone fix", "touchstone merge", "touchstone why"}

// taken returns the values that a flag of a command accepts; nil for a flag that is not limited to fixed
// values.
func taken(cmd *cobra.Command, flag string) []cobra.Completion {
	if own, ok := otherFormats[cmd.CommandPath()]; ok && flag == "format" {
		return own
	}
	return values[flag]
}

// CheckFlags refuses values that the flags of a command do not accept, whether or not the command uses them.
func CheckFlags(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		given := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			given = list.GetSlice()
		}
		for _, value := range given {
			if wrong := wrong(cmd, f.Name, value); wrong != "" {
				err = errors.Join(err, fmt.Errorf("--%s is %.120q but must be %s", f.Name, value, wrong))
			}
		}
	})
	return err
}

// wrong describes the values that a flag accepts, or returns "" if it accepts the given one.
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
	case flag == "repo" && !githubname.IsRepository(value):
		return "a repository, such as acme/app"
	case (flag == "reviewer" || flag == "login") && !githubname.IsLogin(value):
		return "a login as on GitHub and without an @, such as octocat"
	}
	return ""
}

// Complete enables shell completion for the values of a command's flags and arguments, and of those of its
// subcommands. A value that is not a file is never completed as one.
func (s *Settings) Complete(cmd *cobra.Command) {
	for name := range values {
		if cmd.LocalFlags().Lookup(name) != nil {
			// It fails only if the function is registered already.
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

// repositories completes the configured repositories.
func (s *Settings) repositories(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	cfg, err := s.Load(cmd)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return cfg.Repositories, cobra.ShellCompDirectiveNoFileComp
}

// pulls completes the open pull requests of the configured repositories, as the relay knows them or, without
// a relay, GitHub.
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

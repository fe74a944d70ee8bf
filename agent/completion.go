package main

import "github.com/spf13/cobra"

// values are what flags take, for a shell to complete, by the flags' names.
var values = map[string][]cobra.Completion{
	"mode":       {"reviewer\treviews what others open", "author\tfixes and merges your own"},
	"log-format": {"auto", "console", "json"},
	"log-level":  {"debug", "info", "warn", "error"},
}

// complete has a shell complete the values of a command's flags, and of those of its subcommands. What
// is no file is never completed as one.
func complete(cmd *cobra.Command) {
	for name, known := range values {
		if cmd.LocalFlags().Lookup(name) != nil {
			// It fails only if it was done before.
			_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(known, cobra.ShellCompDirectiveNoFileComp))
		}
	}
	for _, sub := range cmd.Commands() {
		complete(sub)
	}
}

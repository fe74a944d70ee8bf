// Command touchstone-relay receives webhooks, stores them, and streams them to its subscribers. This package
// owns the command line; the relay itself is in the folders below. Each command has a file of its own. What several
// commands need is in main.go and ask.go (answers), config.go and sources.go (settings), place.go (where a relay keeps
// its log and tokens), setup.go (the directory that up makes) and run.go.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"touchstone/worktree/build"
	"touchstone/worktree/manual"
)

// Exit codes.
const (
	exitFailure = 1
	exitUsage   = 2
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends the process at once, as usual.
	context.AfterFunc(ctx, stop)

	log := newLogger(os.Stderr)
	zerolog.DefaultContextLogger = &log
	err := rootCommand().ExecuteContext(log.WithContext(ctx))
	switch {
	case err == nil:
		return 0
	case errors.As(err, new(usageError)):
		fmt.Fprintf(os.Stderr, "touchstone-relay: %v\n", err)
		return exitUsage
	default:
		fmt.Fprintf(os.Stderr, "touchstone-relay: %v\n", err)
		return exitFailure
	}
}

// usageError is a mistake in the command line, the configuration or the environment that was found before
// anything was opened.
type usageError struct{ error }

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "touchstone-relay",
		Short: "Store webhooks and stream them to subscribers",
		Long: `touchstone-relay receives webhooks, stores each one before it answers, and
streams them to any number of subscribers. A subscriber that was away resumes
where it left off.

Set one up for a team, and let its machines in:

  touchstone-relay up --domain relay.acme.dev --service
  touchstone-relay hook install        # has GitHub send its events there
  touchstone-relay invite create       # prints a link that works once

Or try one on this machine, and watch it:

  export RELAY_GITHUB_SECRET=…         # the secret in the webhook's settings
  touchstone-relay serve
  touchstone-relay tail                # in another terminal

Exit codes: 0 done, 2 a mistake in the command line or the configuration, 1
anything else.`,
		Version:       build.String(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetVersionTemplate("touchstone-relay {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())}
	})
	root.CompletionOptions.HiddenDefaultCmd = true
	manual.Group(root, "Run a relay:", upCommand(), serviceCommand(), serveCommand(), hookCommand(), recoverCommand(), verifyCommand(),
		renewCommand())
	manual.Group(root, "Let others in:", inviteCommand(), tokenCommand(), linkCommand())
	manual.Group(root, "Watch and control:", tailCommand(), controlCommand())
	root.AddCommand(versionCommand(), manCommand())
	root.InitDefaultCompletionCmd()
	manual.Fit(root)
	refuseArguments(root)
	return root
}

// refuseArguments makes a command and its subcommands refuse arguments, except those that say which they take.
func refuseArguments(cmd *cobra.Command) {
	if cmd.Args == nil {
		cmd.Args = noArguments
	}
	if !cmd.Runnable() { // otherwise cobra answers unknown arguments with the help
		cmd.Args = noArguments
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	for _, sub := range cmd.Commands() {
		refuseArguments(sub)
	}
}

// manCommand writes the manual pages.
func manCommand() *cobra.Command {
	cmd := manual.Command("Touchstone relay", build.Version())
	check := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError{err}
		}
		return nil
	}
	return cmd
}

// completes makes shells complete the values of a flag.
func completes(cmd *cobra.Command, flag string, values ...cobra.Completion) {
	// It fails only if there is no such flag, or it has completions already.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// bindFormat adds the flag that chooses between output for people and for programs.
func bindFormat(cmd *cobra.Command, format *string) {
	cmd.Flags().StringVar(format, "format", "text", "text or json")
	completes(cmd, "format", "text", "json")
}

// checkFormat refuses a --format that is neither text nor json.
func checkFormat(format string) error {
	if format != "text" && format != "json" {
		return usageError{fmt.Errorf("--format must be text or json, not %q", format)}
	}
	return nil
}

// noArguments refuses arguments that are not flags, such as unknown commands.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		meant := "; see"
		cmd.SuggestionsMinimumDistance = 2 // letters that differ
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			meant = "; did you mean " + strings.Join(near, " or ") + "? See"
		}
		return usageError{fmt.Errorf("unknown argument %q%s %s --help", args[0], meant, cmd.CommandPath())}
	}
	return nil
}

// newLogger writes text for people on a terminal, and JSON lines otherwise.
func newLogger(out *os.File) zerolog.Logger {
	var writer io.Writer = out
	if term.IsTerminal(int(out.Fd())) {
		writer = zerolog.ConsoleWriter{Out: out, TimeFormat: "15:04:05"}
	}
	return zerolog.New(writer).With().Timestamp().Logger()
}

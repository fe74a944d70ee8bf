// Command touchstone reviews, fixes and merges pull requests without anyone waiting.
//
// It is one program with two modes: `touchstone run --mode reviewer` on a machine that is always on, and
// `touchstone run --mode author` on the laptop of the pull requests' author. The single steps are commands of
// their own.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"touchstone/agent/bounded"
	"touchstone/agent/cli"
	"touchstone/agent/engine/process"
	"touchstone/agent/impact/golang"
	"touchstone/agent/quality"
	"touchstone/agent/telemetry"
	"touchstone/agent/terminal"
	"touchstone/agent/version"
	"touchstone/worktree/manual"
)

func main() {
	process.Bootstrap()
	bounded.Bootstrap(golang.Task, quality.Task)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string) int {
	cmd := newRoot()
	cmd.SetArgs(args)
	flush, err := telemetry.Export(ctx, os.Getenv, version.String())
	if err != nil {
		// There is no logger yet, and no reason to stop.
		fmt.Fprintln(os.Stderr, "touchstone: a setting for traces cannot be used: "+err.Error())
	}
	err = cmd.ExecuteContext(ctx)
	flush()
	end := cli.Ending(ctx, err)
	if text := end.Error(); text != "" {
		fmt.Fprintln(os.Stderr, "touchstone: "+terminal.Lines(text))
	}
	return end.Code
}

func newRoot() *cobra.Command {
	var s cli.Settings
	root := &cobra.Command{
		Use:   "touchstone",
		Short: "Review, fix and merge pull requests without anyone waiting",
		Long: `touchstone reviews every new commit of a pull request against written
guidelines, applies the review, and merges what is approved and green.

Set this machine up, once:

  touchstone join LINK              with an invitation to a team's relay
  touchstone init --mode author     without a relay
  touchstone doctor                 says what is missing, and what to do

From then on the agents work by themselves:

  touchstone run --mode reviewer    always on, with a login of its own
  touchstone run --mode author      in the background, for your pull requests

Or do one thing now: review, fix and merge take a pull request, given as 12,
owner/name#12 or its URL; review --local takes the working tree of your clone,
without GitHub.

GITHUB_TOKEN holds the token of the login that acts, RELAY_TOKEN the relay's
access token. All other settings are in agent.yaml; touchstone config prints an
example.

Exit codes: 0 done or approved, 10 changes requested or something held, 20 the
model did not finish or somebody stopped it, 2 the command line or the
configuration is wrong, 1 anything else.`,
		Version:       version.Build(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetVersionTemplate("touchstone {{.Version}}\n")
	s.Bind(root)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return cli.Usage(cmd, err)
	})
	manual.Group(root, "Set up:", newJoin(&s), newInit(&s), newApp(&s), newService(&s), newSkill(), newDoctor(&s), newConfig())
	manual.Group(root, "Work:", newRun(&s), newReview(&s), newFix(&s), newMerge(&s), newCI(&s))
	manual.Group(root, "Look:", newStatus(&s), newPS(&s), newLogs(&s), newQueue(&s), newWhy(&s), newStats(&s))
	manual.Group(root, "Without GitHub:", newGuard(), newImpact(&s), newGuidelines(&s))
	root.AddCommand(newVersion(), manual.Command("Touchstone", version.String()))
	root.InitDefaultCompletionCmd()
	manual.Fit(root)
	s.Complete(root)
	checkArguments(root)
	return root
}

// checkArguments makes a command and its subcommands reject flag values that cannot be understood, and arguments,
// unless the command says which it takes.
func checkArguments(cmd *cobra.Command) {
	check := cmd.Args
	if check == nil {
		check = cobra.NoArgs
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return cli.Usage(cmd, suggest(cmd, args, err))
		}
		if err := cli.CheckFlags(cmd); err != nil {
			return cli.Usage(cmd, err)
		}
		return nil
	}
	if !cmd.Runnable() {
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	for _, sub := range cmd.Commands() {
		checkArguments(sub)
	}
}

// suggest adds the probably intended command to an error about an unknown command.
func suggest(cmd *cobra.Command, args []string, err error) error {
	if len(args) == 0 {
		return err
	}
	if !cmd.HasSubCommands() && strings.HasPrefix(err.Error(), "unknown command ") { // the wording of cobra.NoArgs
		return fmt.Errorf("unexpected argument %q", args[0])
	}
	cmd.SuggestionsMinimumDistance = 2 // differing letters
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return fmt.Errorf("%w; did you mean %s?", err, strings.Join(near, " or "))
	}
	return err
}

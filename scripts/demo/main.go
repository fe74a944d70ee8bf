// Command demo shows the whole process on one machine: it opens a pull request with planted defects on a
// simulated GitHub, lets a relay, a reviewing agent and an author's agent process it, and prints a timeline.
//
// All programs are separate processes with their own identity, home and state below one directory, which the
// demo creates and removes again. Only Go's build cache is shared with the user. The package owns the service
// that the pull request changes (service/) and the script of the scripted model.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() { os.Exit(run()) }

// interrupted is the reason why the demo ends early after a signal.
type interrupted struct{ signal syscall.Signal }

func (i interrupted) Error() string { return "ended by the signal " + i.signal.String() }

func run() int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		if s, ok := (<-signals).(syscall.Signal); ok {
			cancel(interrupted{s})
		}
	}()

	err := newCommand().ExecuteContext(ctx)
	var by interrupted
	switch {
	case err == nil:
		return 0
	case errors.As(err, &by):
		fmt.Fprintf(os.Stderr, "demo: %v\n", err)
		return 128 + int(by.signal)
	}
	fmt.Fprintf(os.Stderr, "demo: %v\n", err)
	if errors.As(err, new(usageError)) {
		return 2
	}
	return 1
}

// usageError is an invalid command line.
type usageError struct{ error }

func newCommand() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show how a pull request is reviewed, fixed, reviewed again and merged",
		Long: `Show the whole job on this machine: a pull request with planted defects is
opened on a simulated GitHub, reviewed by one agent, fixed by another, reviewed
again and merged, while a timeline tells what happens.

It takes Go and git, no account and no network. Every program runs on loopback
with a free port and keeps its files in one directory, which is removed in the
end, as are the processes; also after Ctrl-C.`,
		Example: `  demo                    with a scripted model, in some ten seconds
  demo --model claude     your own claude does the thinking, with your login
  demo --keep             leave everything running and tell where to look
  demo --live             a team of five sets everything up by hand first`,
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w; --help lists the flags", err)}
	})
	cmd.Flags().StringVar(&o.model, "model", scripted, "what thinks: scripted, or claude for your own claude and its login")
	cmd.Flags().BoolVar(&o.keep, "keep", false, "leave everything running after the merge until Ctrl-C, and keep the directory")
	cmd.Flags().BoolVar(&o.team, "live", false, "set everything up as a team of five does, command by command, and count them")
	cmd.Flags().BoolVar(&o.app, "app", false, "with --live, the reviewer is a GitHub App")
	cmd.Flags().StringVar(&o.dir, "dir", "", "directory to make for everything (default a new one among the temporary files)")
	cmd.Flags().StringVar(&o.bin, "bin", "", "directory with the built programs (default build them first)")
	return cmd
}

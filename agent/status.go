package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"touchstone/agent/config"
	"touchstone/agent/journal"
	"touchstone/agent/remoteconfig"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

func newStatus(s *settings) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show what the agents of this machine did last and are doing now",
		Long: `status reads the journals of this machine's agents, running or not, and prints
the newest entries of each, which models a running one leaves alone for a while, since
they did not answer, and what keeps it from going on at all, such as a full disk. It
asks the relay which models are chosen for all agents. What a pull request itself looks
like is on GitHub.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := config.Load(s.configPath, os.Getenv)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if err := chosenForAll(cmd.Context(), out, cfg); err != nil {
				fmt.Fprintf(out, "relay: %v\n", err)
			}
			for _, role := range []decide.Role{decide.Reviewer, decide.Author} {
				dir := filepath.Join(cfg.StateDir, "journal", string(role))
				if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
					fmt.Fprintf(out, "%s: never ran here; start it with `touchstone run --mode %s`\n", role, role)
					continue
				}
				entries, err := journal.Read(dir)
				if err != nil {
					return err
				}
				fmt.Fprintf(out, "%s: %s\n", role, verdict.Amount(len(entries), "entry", "entries"))
				for _, e := range entries[max(0, len(entries)-20):] {
					fmt.Fprintln(out, "  "+e.String())
				}
				resting, err := journal.Resting(dir)
				if err != nil {
					return err
				}
				for _, r := range resting {
					fmt.Fprintln(out, "  "+r.String())
				}
				standstill, err := journal.StandstillOf(dir)
				if err != nil {
					return err
				}
				if len(standstill.Refs) > 0 {
					fmt.Fprintln(out, "  "+standstill.String())
				}
			}
			return nil
		},
	}
}

// chosenForAll tells what the relay's administrators have chosen for all agents, if there is
// something, and what of that the agents here leave out.
func chosenForAll(ctx context.Context, out io.Writer, cfg config.Config) error {
	choices, err := remoteconfig.Ask(ctx, cfg)
	said := choices.Said(cfg.Engine.Name)
	if len(said.Settings) > 0 {
		fmt.Fprintf(out, "relay: %s\n", said)
	}
	for _, problem := range said.Problems {
		fmt.Fprintf(out, "relay: left out, as no agent here can use it: %s\n", problem)
	}
	return err
}

package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"touchstone/agent/cli"
	"touchstone/agent/setup"
	"touchstone/agent/setup/wizard"
)

func newInit(s *cli.Settings) *cobra.Command {
	var start wizard.Machine
	var mode string
	var reviewers []string
	cmd := &cobra.Command{
		Use:   "init --mode reviewer|author",
		Short: "Set this machine up without a relay, and a repository's rules",
		Long: `init writes agent.yaml for work without a relay: agents then look at pull
requests every five minutes. In a clone it also creates .touchstone/ with the
repository's first own guideline document and settings, for you to edit and
commit. It keeps what exists already.

It finds the GitHub login in the same way as touchstone join.`,
		Example: `  touchstone init --mode author --repo acme/app --reviewer acme-bot`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			start.Settings, start.Dialog = s, cli.NewDialog(cmd)
			if mode == "" {
				var err error
				mode, err = start.Ask("Should this machine act as reviewer or as author? ")
				if errors.Is(err, context.Canceled) {
					return err
				}
			} // without an answer, cli.Role asks for the flag
			role, err := cli.Role(cmd, mode)
			if err != nil {
				return err
			}
			cfg, err := start.Prepare(cmd)
			if err != nil {
				return err
			}
			if top, err := setup.Checkout(cmd.Context(), "."); err == nil {
				made, err := setup.Seed(top)
				if err != nil {
					return err
				}
				for _, file := range made {
					start.Say("%s is new: edit it and commit it", file)
				}
			}
			return start.Finish(cmd.Context(), cfg, role, nil, reviewers)
		},
	}
	cmd.Flags().StringVar(&mode, "mode", "", "reviewer or author")
	cmd.Flags().StringArrayVar(&reviewers, "reviewer", nil, "a `login` whose verdicts count (repeatable)")
	start.Bind(cmd)
	return cmd
}

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"touchstone/agent/cli"
	"touchstone/agent/doctor"
	"touchstone/verdict/decide"
)

func newDoctor(s *cli.Settings) *cobra.Command {
	var mode, format string
	var fix bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check all that an agent needs, and say what to do about it",
		Long: `doctor checks the configuration, the token and whose it is, each repository,
what the token may do there, its settings, whether its rules let the agents
merge, whose approvals they count and what GitHub itself checks, the relay, git,
the model CLIs with their providers, prices and sandbox, the guidelines and the
state directory, and shows the reviewers' accounts and keys. It changes nothing
but for keeping the accounts, and making a reviewer's key, that it finds
missing. It exits 1 if anything is wrong.

With --fix it first mends, on this machine alone, what can be mended without a
choice of yours, and says what it did: other users' rights to files of secrets,
a missing state directory, what commands that were killed left behind, a service
that an older version installed, and a model CLI that is not here while another
one is. Repeating it changes nothing.`,
		Example: "  touchstone doctor --mode author\n  touchstone doctor --fix",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := s.Load(cmd)
			if err != nil {
				return err
			}
			role, err := cli.RoleOf(cmd, cfg, mode)
			switch {
			case err != nil && mode != "":
				return err
			case err != nil: // which a check tells; most machines are an author's
				role = decide.Author
			}
			d := doctor.Doctor{Config: cfg, Role: role, Report: func(doctor.Result) {}}
			if format == "text" {
				d.Report = doctor.Print(cmd.OutOrStdout())
			}
			if fix {
				if d.Fix(cmd.Context()) {
					if d.Config, err = s.Load(cmd); err != nil {
						return err
					}
				}
			}
			d.Examine(cmd.Context())
			if format == "json" {
				if err := d.JSON(cmd.OutOrStdout()); err != nil {
					return err
				}
			}
			if d.Problems > 0 {
				return fmt.Errorf("%d of %d checks found a problem", d.Problems, len(d.Results))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text or json")
	cmd.Flags().StringVar(&mode, "mode", "", "reviewer or author (default what the token's login is)")
	cmd.Flags().BoolVar(&fix, "fix", false, "first mend on this machine what can be mended without a choice of yours")
	return cmd
}

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
		Short: "Check everything that an agent needs, and say what to do",
		Long: `doctor checks the configuration, the token and its login, each repository, what
the token may do there, its settings, whether its rules let the agents merge,
whose approvals those rules count and what GitHub itself checks, which events a
GitHub App sends, the relay, git, the model CLIs with their providers, prices
and sandbox, the guidelines and the state directory. It shows the reviewers'
accounts and keys. It changes nothing, except that it stores the accounts and
makes a missing reviewer's key. It exits 1 if anything is wrong.

With --fix it first repairs, on this machine only, what needs no decision by
you, and says what it did: other users' access to files of secrets, a missing
state directory, what killed commands left behind, a service that an older
version installed, and a configured model CLI that is not installed while
another one is. A second run changes nothing.`,
		Example: "  touchstone doctor --mode author\n  touchstone doctor --fix",
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := s.Load(cmd)
			if err != nil {
				return err
			}
			role, err := cli.RoleOf(cmd, cfg, mode)
			switch {
			case err != nil && mode != "":
				return err
			case err != nil: // a check reports the error; most machines are an author's
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
	cmd.Flags().StringVar(&mode, "mode", "", "reviewer or author (default: the role of the token's login)")
	cmd.Flags().BoolVar(&fix, "fix", false, "first repair on this machine what needs no decision by you")
	return cmd
}

package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"touchstone/agent/cli"
	"touchstone/agent/workflow"
)

func newCI(s *cli.Settings) *cobra.Command {
	var w workflow.Job
	cmd := &cobra.Command{
		Use:   "ci guard|review",
		Short: "Run the guard or a review as a job of GitHub Actions",
		Long: `ci is the command behind this project's GitHub action. It reads the pull request
from the workflow's event, prints annotations, adds to the job's summary, sets
the step's outputs (verdict, findings, sarif) and, with --sarif, writes a SARIF
file.

guard needs a clone that has the base and the change, and no secret. review
needs a model, and GITHUB_TOKEN to read with; it posts nothing, so only the
job's own check counts. A pull request from a fork is not reviewed, since GitHub
gives it no secrets. Neither runs on pull_request_target, which would give a
fork secrets.

Exit codes: 0 approved, nothing held, or a fork's review skipped, 10 changes
requested or something held, 20 the model did not finish, 2 the workflow or the
configuration is wrong, 1 anything else.`,
		Example:   "  touchstone ci guard --sarif guard.sarif",
		ValidArgs: []string{"guard", "review"},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] != "guard" && args[0] != "review" {
				return errors.New("say what the job is to do: guard or review")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			w.Getenv, w.Out = os.Getenv, cmd.OutOrStdout()
			if err := w.Read(); err != nil {
				return cli.Usage(cmd, err)
			}
			if args[0] == "guard" {
				return w.Guard(cmd.Context())
			}
			return w.Review(cmd, s)
		},
	}
	cmd.Flags().StringVar(&w.Base, "base", "", "with guard: branch or commit to compare with (default: the base of the event)")
	cmd.Flags().BoolVar(&w.All, "all", false, "with guard: show evidence as well as holds")
	cmd.Flags().StringVar(&w.SARIF, "sarif", "", "write the findings as SARIF to this `file`")
	return cmd
}

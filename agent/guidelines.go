package main

import (
	"github.com/spf13/cobra"

	"touchstone/agent/cli"
	"touchstone/agent/remoteguidelines"
)

// guidelineDir holds a repository's own guideline documents.
const guidelineDir = remoteguidelines.Dir

func newGuidelines(s *cli.Settings) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "guidelines",
		Short: "Check guideline documents, and see which rules judge a change",
		Long: `guidelines works on the rules that every finding of a review cites. They are
rows of tables in Markdown documents: built-in ones, under an organisation's,
under those that a repository keeps in ` + guidelineDir + ` on its base
branch. A document of the same name replaces one as a whole; a row with the id
of another document's row replaces that row or, with the severity off, switches
it off.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newGuidelinesLint(), newGuidelinesShow(s), newGuidelinesStats(s), newGuidelinesReplay(s), newGuidelinesSuggest(s))
	return cmd
}

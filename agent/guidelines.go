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
		Long: `guidelines works on the rules that every finding of a review cites. The rules
are rows of tables in Markdown documents, in three layers: built-in ones, those
of an organization, and those that a repository has in ` + guidelineDir + `
on its base branch. A later layer wins: a document replaces one of the same name
completely; a row with the id of another document's row replaces that row or,
with the severity off, disables it.`,
	}
	cmd.AddCommand(newGuidelinesLint(), newGuidelinesShow(s), newGuidelinesStats(s), newGuidelinesReplay(s), newGuidelinesSuggest(s))
	return cmd
}

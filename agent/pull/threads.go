package pull

import (
	"touchstone/agent/forge"
	"touchstone/verdict"
)

// FindingThread is the conversation about a reviewer's finding.
type FindingThread struct {
	forge.Thread
	// Finding is its ID.
	Finding string
}

// FindingThreads returns the conversations about findings that reviewers began.
func FindingThreads(pr forge.PullRequest, reviewers []string) (all []FindingThread) {
	for _, t := range pr.Threads {
		if len(t.Comments) == 0 || !verdict.ListsLogin(reviewers, t.Comments[0].Author.Login) {
			continue
		}
		if id, ok := verdict.TaggedFinding(t.Comments[0].Body); ok {
			all = append(all, FindingThread{t, id})
		}
	}
	return all
}

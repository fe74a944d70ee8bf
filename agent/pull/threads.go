package pull

import (
	"touchstone/agent/config"
	"touchstone/agent/forge"
	"touchstone/verdict"
	"touchstone/worktree/lazyregexp"
)

// FindingThread is the conversation about a finding of a reviewer's.
type FindingThread struct {
	forge.Thread
	// Finding is its ID.
	Finding string
}

// FindingThreads are the conversations about findings, as reviewers began them.
func FindingThreads(pr forge.PullRequest, cfg config.Config) (all []FindingThread) {
	for _, t := range pr.Threads {
		if len(t.Comments) == 0 || !verdict.ListsLogin(cfg.Reviewers, t.Comments[0].Author.Login) {
			continue
		}
		if id, ok := verdict.TaggedFinding(t.Comments[0].Body); ok {
			all = append(all, FindingThread{t, id})
		}
	}
	return all
}

// AnswerMark ends what the author's agent says in the thread of a finding.
const AnswerMark = "<!-- touchstone:answer v1 -->"

// OwnAnswer matches that mark, and the one of what could not be applied.
var OwnAnswer = lazyregexp.New(`(?m)^<!-- touchstone:(?:answer|waiting) v1 [^<>]*-->$`)

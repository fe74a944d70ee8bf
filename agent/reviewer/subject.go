package reviewer

import (
	"context"

	"touchstone/agent/forge"
	"touchstone/guidelines"
	"touchstone/verdict"
	"touchstone/worktree"
	"touchstone/worktree/diff"
)

// Files reads the files of a change and of what it is based on. A worktree.Tree
// is one; rev is any commit, or the tree that is a diff's head. They may be called at the same time.
type Files interface {
	ReadFile(ctx context.Context, rev, name string) ([]byte, error)
	ReadDir(ctx context.Context, rev, dir string) ([]string, error)
	Sides(ctx context.Context, d diff.Diff, wanted func(path string) bool, max int64) ([]worktree.Sides, error)
	List(ctx context.Context, rev string) ([]worktree.Entry, error)
	Contents(ctx context.Context) *worktree.Contents
}

// Subject is a change under review, and what people and machines said of it. It
// need not be a pull request. Its texts come from strangers.
type Subject struct {
	// Signer signs the review's record.
	Signer verdict.Signer
	// Name is how the prompt speaks of it, such as "pull request acme/app#12".
	Name string
	// Title, Body, Branch and Labels are a pull request's; the labels are also those
	// of the issues that it closes.
	Title, Body, Branch string
	Labels              []string
	// Commits are the messages of its own commits, the newest first.
	Commits []string
	// Base is the commit whose guidelines, settings and guides are the law, the tip
	// of BaseBranch.
	Base, BaseBranch string
	// Own are the texts of the repository's own guideline documents, by name; nil for those of Base.
	Own map[string]string
	// Pages is the address below which people see the files of Base; empty where they cannot.
	Pages string
	// Head is the commit under review; empty for that of Diff. Tree is what merging it into
	// Base makes, and Diff the change from the one to the other.
	Head, Tree string
	Diff       diff.Diff
	// Shown is what GitHub shows of the change, in lines of the head; nil where nothing is
	// shown but Diff.
	Shown func(context.Context) (worktree.Shown, error)
	// Dir is a checkout of the merge, for the session to work in.
	Dir   string
	Files Files
	// Index is where what is learnt of the repository's files is kept for the next review;
	// empty keeps nothing.
	Index string
	// LastComment is the newest comment that was there when the review began.
	LastComment int64
	// PatchID names the change itself; empty where it is not needed.
	PatchID string
	// Said is what else people wrote of it: issues, comments. Reported is what
	// machines did: the checks and their logs.
	Said, Reported []Passage
	// Round is the number of this review, 1 being the first. Ledger and Threads are
	// what the earlier ones left, PriorHead the head that the last of them saw, Earlier
	// the record of each by its round.
	Round     int
	Ledger    verdict.Ledger
	Threads   []Thread
	PriorHead string
	Earlier   map[int]verdict.Record
	// Raised are the texts in which the findings of earlier rounds were raised, by their ids.
	Raised map[string]string
	// CI says what the checks of the head came to so far, as in "CI pending"; empty where there
	// are none.
	CI string
	// Past counts, by rule, the other changes of late that broke it here. It is asked
	// only if a rule wants to know, and nil where that is not known.
	Past func(context.Context) (map[string]int, error)
}

// Passage is a text that is shown to a session with who or what wrote it.
type Passage struct {
	What string // such as "issue 7"
	Text string
}

// Thread is what became of the conversation about one finding of an earlier round.
type Thread struct {
	ID         string // on GitHub
	Comment    int64  // the id of the comment that began it
	Finding    string // its id in the ledger
	URL        string
	Resolved   bool
	ResolvedBy string // empty while open, and where the account is gone
	// Replies are the answers to the finding, oldest first.
	Replies []Passage
}

// ChangeOf is a pull request's change as the scopes of the rules are decided on it,
// in its round-th review.
func ChangeOf(pr forge.PullRequest, diff diff.Diff, commits []string, round int) guidelines.Change {
	return Subject{Title: pr.Title, Body: pr.Body, Branch: pr.Head.Name, Labels: labels(pr), Commits: commits, Diff: diff,
		Round: round}.change()
}

// change is the subject as the scopes of the rules are decided on it.
func (s Subject) change() guidelines.Change {
	change := guidelines.Change{Title: s.Title, Body: s.Body, Branch: s.Branch, Labels: s.Labels, Commits: s.Commits, Round: s.Round}
	for _, f := range s.Diff.Files {
		change.Files = append(change.Files, guidelines.File{Path: f.Path, OldPath: f.OldPath, Patch: f.Patch, Truncated: f.Truncated})
	}
	return change
}

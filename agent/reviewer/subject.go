package reviewer

import (
	"context"

	"touchstone/agent/forge"
	"touchstone/guidelines"
	"touchstone/verdict"
	"touchstone/worktree"
	"touchstone/worktree/diff"
)

// Files reads the files of a change and of its base. A worktree.Tree implements it. Argument rev is any
// commit, or the tree that is a diff's head. The methods must be safe for concurrent use.
type Files interface {
	ReadFile(ctx context.Context, rev, name string) ([]byte, error)
	ReadDir(ctx context.Context, rev, dir string) ([]string, error)
	Sides(ctx context.Context, d diff.Diff, wanted func(path string) bool, max int64) ([]worktree.Sides, error)
	List(ctx context.Context, rev string) ([]worktree.Entry, error)
	Contents(ctx context.Context) *worktree.Contents
}

// Subject is a change under review, in groups of what is read together. It need not be a pull request.
type Subject struct {
	// Name is what the prompt calls it, such as "pull request acme/app#12".
	Name string
	// Signer signs the review's record.
	Signer verdict.Signer
	Texts
	Checkout
	Rounds
	Remarks
	Rules
}

// Texts are what a change says of itself. They come from strangers.
type Texts struct {
	// Title, Body, Branch and Labels are those of the pull request. Labels also include those of the issues
	// that it closes.
	Title, Body, Branch string
	Labels              []string
	// Commits are the messages of its own commits, newest first.
	Commits []string
}

// Checkout is the change itself, and where its files can be read.
type Checkout struct {
	// Base is the commit whose guidelines, settings and guides apply: the tip of BaseBranch.
	Base, BaseBranch string
	// Head is the commit under review; empty means that of Diff. Tree is the result of merging Head into
	// Base, and Diff is the change from Base to Tree.
	Head, Tree string
	Diff       diff.Diff
	// PatchID identifies the change itself; empty if it is not needed.
	PatchID string
	// Shown returns what GitHub shows of the change, in lines of the head; nil if only Diff is shown.
	Shown func(context.Context) (worktree.Shown, error)
	// Moved judges the submodules that Diff moves; nil holds them all.
	Moved func(context.Context, diff.Diff) ([]verdict.Hold, []verdict.Evidence, error)
	// Dir is a checkout of the merge, in which the session works.
	Dir   string
	Files Files
	// Index is the file that keeps what was learnt about the repository's files for the next review; empty
	// keeps nothing.
	Index string
}

// Rounds are what the earlier reviews of the change said, and what became of it.
type Rounds struct {
	// Round is the number of this review, from 1. Ledger and Threads are the results of the earlier reviews.
	// PriorHead is the head of the last of them, and Earlier holds the record of each by its round.
	Round     int
	Ledger    verdict.Ledger
	Threads   []Thread
	PriorHead string
	Earlier   map[int]verdict.Record
	// Raised are the texts in which the findings of earlier rounds were first raised, by id.
	Raised map[string]string
	// LastComment is the newest comment that existed when the review began.
	LastComment int64
}

// Remarks are what others say of the change.
type Remarks struct {
	// Said is what people wrote about it: issues and comments. Reported is what machines wrote: checks and
	// their logs.
	Said, Reported []Passage
	// CI says the state of the head's checks, such as "CI pending"; empty if there are none.
	CI string
}

// Rules are the repository's own rules, as far as its base does not tell them.
type Rules struct {
	// Own are the texts of the repository's own guideline documents, by name; nil means those of Base.
	Own map[string]string
	// Pages is the URL below which people see the files of Base; empty if there is none.
	Pages string
	// Past counts, by rule, the other recent changes that broke it in this repository. It is only called if a
	// rule needs it, and is nil if that is not known.
	Past func(context.Context) (map[string]int, error)
}

// Passage is a text that is shown to a session, labelled with who or what wrote it.
type Passage struct {
	What string // such as "issue 7"
	Text string
}

// Thread is the conversation about one finding of an earlier round.
type Thread struct {
	ID         string // on GitHub
	Comment    int64  // the id of the first comment
	Finding    string // the finding's id in the ledger
	URL        string
	Resolved   bool
	ResolvedBy string // empty while open, and if the account was deleted
	// Replies are the replies to the finding, oldest first.
	Replies []Passage
}

// ChangeOf is a pull request's change in the form in which rule scopes are evaluated, for the given round.
func ChangeOf(pr forge.PullRequest, diff diff.Diff, commits []string, round int) guidelines.Change {
	return Texts{Title: pr.Title, Body: pr.Body, Branch: pr.Head.Name, Labels: labels(pr), Commits: commits}.change(diff, round)
}

// change is a change in the form in which rule scopes are evaluated.
func (t Texts) change(d diff.Diff, round int) guidelines.Change {
	change := guidelines.Change{Title: t.Title, Body: t.Body, Branch: t.Branch, Labels: t.Labels, Commits: t.Commits, Round: round}
	for _, f := range d.Files {
		change.Files = append(change.Files, guidelines.File{Path: f.Path, OldPath: f.OldPath, Patch: f.Patch, Truncated: f.Truncated})
	}
	return change
}

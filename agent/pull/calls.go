package pull

import (
	"slices"
	"strings"
	"time"

	"touchstone/agent/forge"
	"touchstone/verdict"
)

// CallOf returns what a person is called for at the present head and base.
func CallOf(pr forge.PullRequest) verdict.Call {
	return verdict.Call{Head: pr.Head.SHA, Base: pr.Base.SHA, Branch: pr.Base.Name}
}

// CallBases returns the commits of the base for which people were called to the present head.
func CallBases(pr forge.PullRequest) (bases []string) {
	for _, c := range pr.Comments {
		if to, ok := verdict.CallIn(c.Body); ok && to.Head == pr.Head.SHA && to.Branch == pr.Base.Name && insider(pr, c) {
			bases = append(bases, to.Base)
		}
	}
	return bases
}

// escalatedAt returns when an agent of either side last called a person, or zero. Only calls by those who
// belong to the repository count, because the mark resets the limit of rounds.
func escalatedAt(pr forge.PullRequest, label string) time.Time {
	return lastCall(pr, label, func(forge.Comment, verdict.Call) bool { return true })
}

// CalledAt is escalatedAt for the present head and base only. An edited comment does not count, because what
// it called for is unknown; rebased are commits that the base no longer contains.
func CalledAt(pr forge.PullRequest, label string, rebased map[string]bool) time.Time {
	return lastCall(pr, label, func(c forge.Comment, to verdict.Call) bool {
		sameBase := to.Branch == "" || to.Branch == pr.Base.Name && !rebased[to.Base]
		later := pr.BaseReplaced.IsZero() || c.CreatedAt.After(pr.BaseReplaced)
		return to.Head == pr.Head.SHA && c.EditedAt == nil && sameBase && later
	})
}

// lastCall returns when a person was last called in a comment that counts. A comment without the label is an
// unfinished call: it stopped no agent, so it resets nothing.
func lastCall(pr forge.PullRequest, label string, counts func(c forge.Comment, to verdict.Call) bool) time.Time {
	var at time.Time
	for _, c := range pr.Comments {
		to, ok := verdict.CallIn(c.Body)
		if ok && insider(pr, c) && counts(c, to) && c.CreatedAt.After(at) && labelledSince(pr, label, c.CreatedAt) {
			at = c.CreatedAt
		}
	}
	return at
}

// CallTitle begins the comment that calls a person. The rest of its line says what the person has to do, as
// Markdown.
const CallTitle = "### A person is needed: "

// calledFor returns what a person has to do according to the last call to the present head and base, for good
// or until tomorrow; empty if the call does not say it, or was edited.
func calledFor(pr forge.PullRequest, label string) string {
	for _, c := range slices.Backward(pr.Comments) {
		to, called := verdict.CallIn(c.Body)
		if head, _, rests := verdict.RestIn(c.Body); rests {
			to, called = verdict.Call{Head: head, Branch: pr.Base.Name}, true
		}
		if !called || !insider(pr, c) || !labelledSince(pr, label, c.CreatedAt) {
			continue
		}
		if to.Head != pr.Head.SHA || to.Branch != pr.Base.Name || !c.CreatedAt.After(pr.BaseReplaced) || c.EditedAt != nil {
			return ""
		}
		line, _, _ := strings.Cut(c.Body, "\n")
		todo, titled := strings.CutPrefix(line, CallTitle)
		if !titled {
			return ""
		}
		return strings.NewReplacer("`", "", "&#8203;", "").Replace(todo)
	}
	return ""
}

func insider(pr forge.PullRequest, c forge.Comment) bool {
	return c.Insider() || verdict.SameLogin(c.Author.Login, pr.Viewer)
}

// labelledSince reports whether a pull request had a label at a time or later: it has the label now, or the
// label was added or removed since.
func labelledSince(pr forge.PullRequest, label string, since time.Time) bool {
	return Labelled(pr, label) || slices.ContainsFunc(pr.Labelled, func(l forge.Labelling) bool {
		return strings.EqualFold(l.Label, label) && (l.At.After(since) || l.Added && l.At.Equal(since))
	})
}

// HalfCalled reports whether this login has called a person to the present head and base by the comment only,
// until tomorrow or for good: the label is still missing.
func HalfCalled(pr forge.PullRequest, label string, tomorrow bool) bool {
	for _, c := range slices.Backward(pr.Comments) {
		to, ok := verdict.CallIn(c.Body)
		called := ok && to.Head == pr.Head.SHA && (to.Branch == "" || to.Branch == pr.Base.Name)
		if head, _, rests := verdict.RestIn(c.Body); tomorrow {
			called = rests && head == pr.Head.SHA
		}
		if called && verdict.SameLogin(c.Author.Login, pr.Viewer) {
			return !labelledSince(pr, label, c.CreatedAt)
		}
	}
	return false
}

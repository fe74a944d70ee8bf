package pull

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"touchstone/agent/forge"
	"touchstone/verdict"
)

// calling is what a person was called to: a head and its base, of which earlier versions told
// neither commit nor branch.
type calling struct{ head, base, branch string }

// CallMark ends the comment that calls a person.
func CallMark(pr forge.PullRequest) string {
	return fmt.Sprintf("<!-- touchstone:escalation v2 %s %s %s -->", pr.Head.SHA, cmp.Or(pr.Base.SHA, "-"), url.QueryEscape(pr.Base.Name))
}

// callIn is the call that a comment makes, if it does.
func callIn(body string) (c calling, ok bool) {
	mark := escalation.FindStringSubmatch(body)
	if mark == nil {
		return calling{}, false
	}
	branch, err := url.QueryUnescape(mark[4])
	return calling{head: cmp.Or(mark[1], mark[2]), base: mark[3], branch: branch}, err == nil
}

// CallBases are the commits of the base at which people were called to the present head.
func CallBases(pr forge.PullRequest) (bases []string) {
	for _, c := range pr.Comments {
		if to, ok := callIn(c.Body); ok && to.head == pr.Head.SHA && to.branch == pr.Base.Name && insider(pr, c) {
			bases = append(bases, to.base)
		}
	}
	return bases
}

// EscalatedAt is when an agent of either side last called a person, or zero. Only
// those who belong to the repository are believed: the mark resets what bounds the
// rounds.
func EscalatedAt(pr forge.PullRequest, label string) time.Time {
	return lastCall(pr, label, func(forge.Comment, calling) bool { return true })
}

// CalledAt is EscalatedAt of the present head and base alone. A comment that was edited does
// not tell what it called to; rebased are commits that the base does not hold any more.
func CalledAt(pr forge.PullRequest, label string, rebased map[string]bool) time.Time {
	return lastCall(pr, label, func(c forge.Comment, to calling) bool {
		sameBase := to.branch == "" || to.branch == pr.Base.Name && !rebased[to.base]
		later := pr.BaseReplaced.IsZero() || c.CreatedAt.After(pr.BaseReplaced)
		return to.head == pr.Head.SHA && c.EditedAt == nil && sameBase && later
	})
}

// lastCall is when a person was last called in a comment that counts. A comment without the label
// is an unfinished call: it stopped no agent, so it resets nothing.
func lastCall(pr forge.PullRequest, label string, counts func(c forge.Comment, to calling) bool) time.Time {
	var at time.Time
	for _, c := range pr.Comments {
		to, ok := callIn(c.Body)
		if ok && insider(pr, c) && counts(c, to) && c.CreatedAt.After(at) && labelledSince(pr, label, c.CreatedAt) {
			at = c.CreatedAt
		}
	}
	return at
}

// CallTitle begins the comment that calls a person. What the person has to do follows on its line, as Markdown.
const CallTitle = "### A person is needed: "

// CalledFor is what a person has to do who was last called to the present head and base, for good or until tomorrow, as the call
// says it; blank if it does not, or was edited.
func CalledFor(pr forge.PullRequest, label string) string {
	for _, c := range slices.Backward(pr.Comments) {
		to, called := callIn(c.Body)
		if mark := rest.FindStringSubmatch(c.Body); mark != nil {
			to, called = calling{head: mark[1], branch: pr.Base.Name}, true
		}
		if !called || !insider(pr, c) || !labelledSince(pr, label, c.CreatedAt) {
			continue
		}
		if to.head != pr.Head.SHA || to.branch != pr.Base.Name || !c.CreatedAt.After(pr.BaseReplaced) || c.EditedAt != nil {
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

// labelledSince reports whether a pull request had a label at a moment or at any later one: it has
// it now, or it was put on or taken off since.
func labelledSince(pr forge.PullRequest, label string, since time.Time) bool {
	return Labelled(pr, label) || slices.ContainsFunc(pr.Labelled, func(l forge.Labelling) bool {
		return strings.EqualFold(l.Label, label) && (l.At.After(since) || l.Added && l.At.Equal(since))
	})
}

// HalfCalled reports whether this login has called a person to the present head and base by
// the comment alone, until tomorrow or for good: the label is still missing.
func HalfCalled(pr forge.PullRequest, label string, tomorrow bool) bool {
	for _, c := range slices.Backward(pr.Comments) {
		to, ok := callIn(c.Body)
		called := ok && to.head == pr.Head.SHA && (to.branch == "" || to.branch == pr.Base.Name)
		if mark := rest.FindStringSubmatch(c.Body); tomorrow {
			called = mark != nil && mark[1] == pr.Head.SHA
		}
		if called && verdict.SameLogin(c.Author.Login, pr.Viewer) {
			return !labelledSince(pr, label, c.CreatedAt)
		}
	}
	return false
}

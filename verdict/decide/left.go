package decide

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"touchstone/verdict"
)

// Left is why an agent leaves an approved pull request to its author.
type Left struct {
	// Why is a sentence part for people; empty if the agent merges.
	Why string
	// Topic names the reason in a lower-case word that stays the same however Why is put:
	// its author is told once of each.
	Topic string
	// OneHead says that it is a reason of the present head's alone: the next one is told of
	// anew.
	OneHead bool
}

// Notice is what its author was told of before.
type Notice struct {
	// Topic is that of a [Left], SHA the head it was said of.
	Topic, SHA string
}

// NoCheck is the topic of a head that no check has reported on, though one is asked for.
const NoCheck = "checks"

// FailedBefore is the topic of a head on which a check has not run that failed before it.
const FailedBefore = "unproved"

// unheard is why such a head is left to its author.
func (s State) unheard() Left {
	l := Left{Topic: NoCheck, OneHead: true, Why: "no check has passed on it, and merge.require_checks is on in the agent's configuration"}
	if s.Unknown != "" {
		l.Why = fmt.Sprintf("the check %q passed on it, but nothing on %s came from where that comes from, or it comes from the author",
			verdict.Clip(s.Unknown, verdict.MaxReason), s.BaseBranch)
	}
	return l
}

// Overtaken is the topic of an objection to another head or base that was not taken back.
const Overtaken = "objection"

// NoReviewer is the topic of a head whose reviewer does not do what it waits for.
const NoReviewer = "reviewer"

// Texts is the topic of a head whose reviewers object to nothing but what the pull request says of itself.
const Texts = "texts"

// edits are what its author does about such a finding.
var edits = map[string]string{
	verdict.TitleText: "edit the title", verdict.DescriptionText: "edit the description",
	verdict.MessagesText: "reword the commit messages, and push",
}

// onlyTexts says what its author has to edit where nothing else blocks the head, since no session on its files can
// settle that, with the first finding's claim; "" where there is anything for a session.
func (s State) onlyTexts() string {
	var todo []string
	why := ""
	for _, i := range s.Counting() {
		r := s.Opinions[i].Record
		switch {
		case r == nil, s.approved(i):
			continue
		case !r.Settled, len(r.Holds) > 0:
			return ""
		}
		for _, e := range s.withOrders(*r) {
			switch edit := edits[e.Text]; {
			case !e.Blocks() || slices.Contains(todo, edit):
			case !e.ForItsAuthor() || edit == "":
				return ""
			default:
				todo, why = append(todo, edit), cmp.Or(why, "(finding "+e.ID+"): "+strings.TrimRight(e.Claim, "."))
			}
		}
	}
	if len(todo) == 0 || s.Checks == ChecksFailed || s.Mergeable == MergeableDirty {
		return ""
	}
	return strings.Join(todo, " and ") + ", which is all that blocks it " + why
}

// askEdit tells its author, once for each head, what to edit. That done, it is reviewed again.
func (s State) askEdit(what string) Action {
	if s.noticed(Left{Topic: Texts, OneHead: true}) {
		a := s.act(Wait, "its author has to "+what)
		a.Noted = true
		return a
	}
	a := s.retry(Tell, what)
	a.Topic = Texts
	return a
}

// noticed reports whether its author has been told of a reason.
func (s State) noticed(l Left) bool {
	for _, t := range s.Notices {
		if t.Topic == l.Topic && (!l.OneHead || t.SHA == s.Head) {
			return true
		}
	}
	return false
}

// forAuthor ends what is said of a pull request that people merge, before the reason.
const forAuthor = "waits for its author to merge it: "

// leave leaves a head to its author, having told them; what says how it stands.
func (s State) leave(what string, l Left) Action {
	if s.noticed(l) {
		return s.waitForAuthor(l)
	}
	a := s.retry(Tell, what+", and "+forAuthor+l.Why)
	a.Topic = l.Topic
	return a
}

// leaveBranch leaves work on a branch to people, its author having been told once of each
// reason for it.
func (s State) leaveBranch(reason, why string) Action {
	said := reason + ", and that is left to its author: " + why
	topic := map[string]string{objected: "review", conflicting: "conflict", failing: "check", behind: "behind"}[reason]
	if s.noticed(Left{Topic: topic}) {
		return s.act(Wait, said)
	}
	a := s.retry(Tell, said)
	a.Topic = topic
	return a
}

// waitForAuthor waits for its author, who knows.
func (s State) waitForAuthor(l Left) Action {
	return s.act(Wait, "it is approved and "+forAuthor+l.Why)
}

// failedBefore is for a head that nothing shows to have mended a check: it failed on an earlier
// one, and has not begun on this. CI may be down, or have nothing to do with the change any
// more; which, a person can tell.
func (s State) failedBefore() Action {
	l := s.Manual
	if l.Why == "" {
		l = Left{Topic: FailedBefore, OneHead: true,
			Why: fmt.Sprintf("the check %q failed on an earlier head, and has not run on this one", verdict.Clip(s.FailedBefore, verdict.MaxReason))}
	}
	return s.leave("it is approved", l)
}

// silent is for a head that has not been seen by what reports on the base: a person may have
// kept CI from starting.
func (s State) silent() Action {
	l := s.Manual
	if l.Why == "" {
		l = Left{Topic: NoCheck, OneHead: true, Why: fmt.Sprintf("the check %q, which reports on %s, has not run on it",
			verdict.Clip(s.Silent, verdict.MaxReason), s.BaseBranch)}
	}
	return s.leave("it is approved", l)
}

// unchecked is for a head that no check has reported on, though one is asked for: its
// author is told, and may be told that the agent leaves merging to them anyway.
func (s State) unchecked() Action {
	if left := s.left(signPatience); left > 0 {
		return Action{Kind: Wait, SHA: s.Head, Reason: "no check that counts has passed on this head", Recheck: left}
	}
	if s.Manual.Why != "" {
		return s.leave("it is approved", s.Manual)
	}
	return s.leave("it is approved", s.unheard())
}

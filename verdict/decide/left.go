package decide

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"touchstone/verdict"
)

// Left is the reason why an agent leaves an approved pull request to its author.
type Left struct {
	// Why is a sentence fragment for people; empty if the agent merges.
	Why string
	// Topic identifies the reason by a lower-case word that stays the same when Why is worded differently.
	// The author is told once of each topic.
	Topic string
	// OneHead says that the reason is about the present head only: the author is told again for the next
	// head.
	OneHead bool
}

// Notice is something that the author was already told.
type Notice struct {
	// Topic is the topic of a [Left]. SHA is the head that it was about.
	Topic, SHA string
}

// NoCheck is the topic for a head without a report of any check, although checks are required.
const NoCheck = "checks"

// FailedBefore is the topic for a head on which a check has not run that failed on an earlier head. The
// author's notices on pull requests contain it, so it does not change.
const FailedBefore = "unproved"

// noCheck is the reason for leaving a head without a passed check to its author.
func (s State) noCheck() Left {
	l := Left{Topic: NoCheck, OneHead: true, Why: "no check has passed on it, and merge.require_checks is on in the agent's configuration"}
	if s.Unknown != "" {
		l.Why = fmt.Sprintf("the check %q passed on it, but nothing on %s came from where that comes from, or it comes from the author",
			verdict.Clip(s.Unknown, verdict.MaxReason), s.BaseBranch)
	}
	return l
}

// Overtaken is the topic for an objection to another head or base that was never withdrawn.
const Overtaken = "objection"

// NoReviewer is the topic for a head whose reviewer does not respond.
const NoReviewer = "reviewer"

// Texts is the topic for a head whose reviewers object only to the pull request's own texts.
const Texts = "texts"

// edits says what the author must do about a finding on each of the texts.
var edits = map[string]string{
	verdict.TitleText: "edit the title", verdict.DescriptionText: "edit the description",
	verdict.MessagesText: "reword the commit messages, and push",
}

// onlyTexts says what the author must edit if only the pull request's own texts block the head, since no
// session on the files can settle that. It includes the first finding's claim. It is "" if there is anything
// that a session could fix.
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

// askEdit tells the author what to edit, once for each head. The edit then leads to another review.
func (s State) askEdit(what string) Action {
	if s.noticed(Left{Topic: Texts, OneHead: true}) {
		a := s.act(Wait, "its author has to "+what)
		a.Noted = true
		return a
	}
	return s.tell(Texts, what)
}

// tell tells the author something about a topic.
func (s State) tell(topic, reason string) Action {
	a := s.retry(Tell, reason)
	a.Topic = topic
	return a
}

// noticed reports whether the author has been told a reason.
func (s State) noticed(l Left) bool {
	for _, t := range s.Notices {
		if t.Topic == l.Topic && (!l.OneHead || t.SHA == s.Head) {
			return true
		}
	}
	return false
}

// forAuthor introduces the reason in the text about a pull request that people merge.
const forAuthor = "waits for its author to merge it: "

// leave leaves a head to its author, after telling them once. Argument what describes the head's state.
func (s State) leave(what string, l Left) Action {
	if s.noticed(l) {
		return s.waitForAuthor(l)
	}
	return s.tell(l.Topic, what+", and "+forAuthor+l.Why)
}

// leaveBranch leaves work on a branch to people. The author is told once of each reason.
func (s State) leaveBranch(reason, why string) Action {
	text := reason + ", and that is left to its author: " + why
	topic := map[string]string{objected: "review", conflicting: "conflict", failing: "check", behind: "behind"}[reason]
	if s.noticed(Left{Topic: topic}) {
		return s.act(Wait, text)
	}
	return s.tell(topic, text)
}

// waitForAuthor waits for an author who has been told.
func (s State) waitForAuthor(l Left) Action {
	return s.act(Wait, "it is approved and "+forAuthor+l.Why)
}

// leaveUnproven leaves an approved head to its author because of its checks, or for the configured reason why
// the author merges anyway.
func (s State) leaveUnproven(l Left) Action {
	if s.Manual.Why != "" {
		l = s.Manual
	}
	return s.leave("it is approved", l)
}

// unchecked is the action for a head without a report of any check, although checks are required.
func (s State) unchecked() Action {
	if left := s.left(signPatience); left > 0 {
		return Action{Kind: Wait, SHA: s.Head, Reason: "no check that counts has passed on this head", Recheck: left}
	}
	return s.leaveUnproven(s.noCheck())
}

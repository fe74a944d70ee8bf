package worker

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"touchstone/agent/author"
	"touchstone/agent/forge"
	"touchstone/agent/journal"
	"touchstone/agent/pull"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// Bounds of the lists in a briefing, so that it can be read in two minutes.
const (
	maxRounds   = 8
	maxFailures = 5
	maxOpen     = 15
)

// briefing is a comment by which a person can act within two minutes: why the agents stopped, what is held or
// open, how to continue, and then what was tried and what it cost.
func (a *Agent) briefing(pr forge.PullRequest, s decide.State, action decide.Action) string {
	var b strings.Builder
	latest, url := a.latest(pr)
	failed := a.failures(pr, s.Since(), maxFailures)
	fmt.Fprintf(&b, "%s%s\n\nThe %s agent stopped at %s: %s.\n", pull.CallTitle, wanted(pr, latest, action, failed), a.Role,
		verdict.Short(pr.Head.SHA), verdict.Prose(action.Reason))
	if len(failed) > 0 {
		b.WriteString("\nThe last attempts ended with:\n")
		for _, e := range failed {
			fmt.Fprintf(&b, "- %s of %s: %s\n", e.Act, verdict.Short(e.SHA), verdict.Prose(verdict.OneLine(e.Outcome.Detail)))
		}
	}
	b.WriteString(open(latest, url, pr.Head.SHA))
	label := a.Config().Labels.NeedsHuman
	mark := pull.CallOf(pr).Mark()
	if action.Tomorrow {
		until := startOfDay(a.now()).AddDate(0, 0, 1).UTC()
		fmt.Fprintf(&b, "\nThe agents continue by themselves after %s. To let them continue now: raise `budgets.day` in the %s agent's "+
			"configuration, then remove the label `%s` or comment `/touchstone resume`.\n", until.Format(time.RFC1123), a.Role, label)
		mark = verdict.RestMark(pr.Head.SHA, until)
	} else if !pr.Open {
		fmt.Fprintf(&b, "\n**To continue:** reopen it, then remove the label `%s` or comment `/touchstone resume`. Otherwise there is nothing "+
			"to do: a closed pull request is never merged.\n", label)
	} else {
		fmt.Fprintf(&b, "\n**To continue:** push a commit or settle what is open, then remove the label `%s` or comment `/touchstone resume`. "+
			"The agents then start again, with new budgets. To keep them away: comment `/touchstone stop`.\n", label)
	}
	b.WriteString(rounds(pr, s))
	if wasted := a.past(pr, s.Since()).Wasted.USD; wasted > 0 {
		fmt.Fprintf(&b, "\nFailed attempts cost another $%.2f, according to this machine's journal.\n", wasted)
	}
	return b.String() + "\n" + mark
}

// wanted is what a person must do, in one short sentence.
func wanted(pr forge.PullRequest, latest verdict.Record, action decide.Action, failed []journal.Entry) string {
	left := len(latest.Ledger.Outstanding())
	objects := latest.Verdict == verdict.RequestChanges && latest.Head == action.SHA
	switch {
	case !pr.Open:
		return "it lost its base branch"
	case action.Tomorrow:
		return "raise the day's budget, or leave it until tomorrow"
	case len(failed) > 0 && author.FailsOnBase(failed[len(failed)-1].Outcome.Detail):
		return "repair the base, or correct `verify.command` there, then comment `/touchstone resume`"
	case objects && len(latest.Holds) > 0 && left == 0:
		return "approve this commit in your own review, or push a change"
	case left <= 1 && leftToPerson(failed, action.SHA) != "":
		return leftToPerson(failed, action.SHA) + ", then comment `/touchstone resume`"
	case objects && left > 0:
		return fmt.Sprintf("settle %s, then comment `/touchstone resume`", verdict.Amount(left, "finding", "findings"))
	case objects:
		return "comment `/touchstone review` for another review"
	}
	return "find out why the agents stopped, then comment `/touchstone resume`"
}

// maxTodo bounds, in bytes, how much of what a session leaves to a person is in the first line of a call.
const maxTodo = 160

// leftToPerson is what the last of the failed acts left to a person, if that act was on the head, or "".
func leftToPerson(failed []journal.Entry, head string) string {
	if len(failed) == 0 || failed[len(failed)-1].SHA != head {
		return ""
	}
	todo := author.LeftToPerson(failed[len(failed)-1].Outcome.Detail)
	return verdict.Clip(verdict.Prose(verdict.OneLine(todo)), maxTodo)
}

// open lists what the latest review holds for a person and what it leaves open, and says how to settle
// either.
func open(latest verdict.Record, url, head string) string {
	var b strings.Builder
	left := latest.Ledger.Outstanding()
	if len(latest.Holds) > 0 && latest.Verdict == verdict.RequestChanges {
		b.WriteString("\nHeld for a person:\n")
		for _, h := range latest.Holds {
			b.WriteString(heldLine(h))
		}
		b.WriteString("\nTo let this pass, approve exactly this commit in your own review. The reviewer then approves it too if nothing else " +
			"is open.\n")
	} else if len(left) == 0 && latest.Verdict == verdict.RequestChanges {
		fmt.Fprintf(&b, "\n[The review](%s) requests changes but has no finding; read it for the reason. To have %s reviewed again, comment "+
			"`/touchstone review`.\n",
			url, verdict.Short(head))
	}
	if len(left) == 0 {
		return b.String()
	}
	fmt.Fprintf(&b, "\nStill open ([the review of %s](%s) has the details):\n", verdict.Short(latest.Head), url)
	for _, e := range left[:min(len(left), maxOpen)] {
		b.WriteString(openLine(e))
	}
	if more := len(left) - maxOpen; more > 0 {
		fmt.Fprintf(&b, "- and %d more\n", more)
	}
	b.WriteString("\nIf a finding is wrong, comment `/touchstone dispute ID REASON`. If it may stay, comment `/touchstone waive ID REASON`.\n")
	return b.String()
}

// rounds lists for each round what was found, what its fix said, and what both cost.
func rounds(pr forge.PullRequest, s decide.State) string {
	fixes := map[string]verdict.Repair{}
	for _, c := range s.Commits {
		if r, ok := verdict.ParseRepair(c.Message); ok {
			fixes[r.Reviewed] = r
		}
	}
	var lines []string
	total := 0.0
	for i, o := range s.Opinions {
		if o.Record == nil || o.Edited || !verdict.ListsLogin(s.Reviewers, o.By) && !verdict.SameLogin(o.By, s.Self) {
			continue
		}
		fix := fixes[o.SHA]
		total += o.Record.CostUSD + fix.Cost.USD
		lines = append(lines, fmt.Sprintf("| %d | %s | [%s](%s) | %d | %s | $%.2f |\n",
			o.Record.Round, verdict.Short(o.SHA), o.Record.Verdict, pr.Reviews[i].URL, len(o.Record.Ledger.Outstanding()), did(fix),
			o.Record.CostUSD+fix.Cost.USD))
	}
	if len(lines) == 0 {
		return ""
	}
	table := "\nWhat was tried:\n\n| round | head | review | open | fix | cost |\n| --- | --- | --- | --- | --- | --- |\n"
	if more := len(lines) - maxRounds; more > 0 {
		table += fmt.Sprintf("| | | %d earlier | | | |\n", more)
	}
	return table + strings.Join(lines[max(0, len(lines)-maxRounds):], "") +
		fmt.Sprintf("\n%s cost $%.2f.\n", verdict.Amount(len(lines), "round", "rounds"), total)
}

// did sums up what a fix says about the findings that it answers.
func did(fix verdict.Repair) string {
	var parts []string
	for _, answer := range []struct {
		n    int
		word string
	}{{len(fix.Findings), "repaired"}, {len(fix.Disputed), "disputed"}, {len(fix.Person), "for a person"}} {
		if answer.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", answer.n, answer.word))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "-")
}

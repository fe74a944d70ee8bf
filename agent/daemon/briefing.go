package daemon

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"touchstone/agent/forge"
	"touchstone/verdict"
)

// The most that a briefing lists, so that it can be read in two minutes.
const (
	maxRounds   = 8
	maxFailures = 5
	maxOpen     = 15
)

// briefing is what a person needs to act on in two minutes: why the agents stopped, what
// was tried, what is held or stays open, what it cost, how to go on.
func (a *Agent) briefing(pr forge.PullRequest, commits []forge.Commit, action verdict.Action) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### A person is needed\n\nThe %s agent stopped at %s: %s.\n", a.Role, short(pr.Head.SHA), verdict.Prose(action.Reason))
	s := stateOf(pr, a.Role, a.Config(), facts{commits: commits})
	if failed := a.failures(pr, s.Since(), maxFailures); len(failed) > 0 {
		b.WriteString("\nThe last attempts ended with:\n")
		for _, e := range failed {
			fmt.Fprintf(&b, "- %s of %s: %s\n", e.Act, short(e.SHA), verdict.Prose(oneLine(e.Outcome.Detail)))
		}
	}
	b.WriteString(rounds(s))
	if wasted := a.past(pr, s.Since()).wasted.USD; wasted > 0 {
		fmt.Fprintf(&b, "\nWhat came to nothing cost $%.2f besides, by this machine's books.\n", wasted)
	}
	latest := a.latest(pr)
	if len(latest.Holds) > 0 && latest.Verdict == verdict.RequestChanges {
		b.WriteString("\nHeld for a person:\n")
		for _, h := range latest.Holds {
			b.WriteString(heldLine(h))
		}
		b.WriteString("\nTo let that pass, approve this very head in a review of your own. The reviewer then approves it too if nothing else is open.\n")
	}
	if open := latest.Ledger.Outstanding(); len(open) > 0 {
		b.WriteString("\nStill open:\n")
		for _, e := range open[:min(len(open), maxOpen)] {
			b.WriteString(openLine(e))
		}
		if more := len(open) - maxOpen; more > 0 {
			fmt.Fprintf(&b, "- and %d more, in the latest review\n", more)
		}
		b.WriteString("\nA finding that is wrong: `/touchstone dispute ID REASON`. One that may stay: `/touchstone waive ID REASON`.\n")
	}
	label := a.Config().Labels.NeedsHuman
	if action.Tomorrow {
		until := startOfDay(time.Now()).AddDate(0, 0, 1).UTC()
		fmt.Fprintf(&b, "\nThe agents go on by themselves after %s. To have them go on now: raise `budgets.day` in the %s agent's configuration, then take the label `%s` off or comment `/touchstone resume`.\n", until.Format(time.RFC1123), a.Role, label)
		fmt.Fprintf(&b, "\n<!-- touchstone:rest v1 %s until %s -->", pr.Head.SHA, until.Format(time.RFC3339))
		return b.String()
	}
	fmt.Fprintf(&b, "\nTo go on: push a commit or settle what is open, then take the label `%s` off or comment `/touchstone resume`. The agents start afresh from there, with new budgets.\n", label)
	fmt.Fprintf(&b, "\n<!-- touchstone:escalation v1 %s -->", pr.Head.SHA)
	return b.String()
}

// rounds tells of each round what was found, what the fix of it said, and what both cost.
func rounds(s verdict.State) string {
	fixes := map[string]verdict.Repair{}
	for _, c := range s.Commits {
		if r, ok := verdict.ParseRepair(c.Message); ok {
			fixes[r.Reviewed] = r
		}
	}
	var lines []string
	total := 0.0
	for _, o := range s.Opinions {
		if o.Record == nil || o.Edited || !verdict.ListsLogin(s.Reviewers, o.By) && !verdict.SameLogin(o.By, s.Self) {
			continue
		}
		fix, fixed := fixes[o.SHA]
		did := "-"
		if fixed {
			did = fmt.Sprintf("%d repaired, %d disputed", len(fix.Findings), len(fix.Disputed))
		}
		total += o.Record.CostUSD + fix.Cost.USD
		lines = append(lines, fmt.Sprintf("| %d | %s | %s | %d | %s | $%.2f |\n",
			o.Record.Round, short(o.SHA), o.Record.Verdict, len(o.Record.Ledger.Outstanding()), did, o.Record.CostUSD+fix.Cost.USD))
	}
	if len(lines) == 0 {
		return ""
	}
	table := "\n| round | head | review | open | the fix of it | cost |\n| --- | --- | --- | --- | --- | --- |\n"
	if more := len(lines) - maxRounds; more > 0 {
		table += fmt.Sprintf("| | | %d earlier | | | |\n", more)
	}
	return table + strings.Join(slices.Clone(lines[max(0, len(lines)-maxRounds):]), "") + fmt.Sprintf("\nAll rounds together cost $%.2f.\n", total)
}

package decide

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"touchstone/verdict"
)

// noReview says why a head does not count as reviewed, even though reviewers may have approved it: for
// another base, or for a different result of the merge.
func (s State) noReview() string {
	for _, o := range slices.Backward(s.Opinions) {
		if o.void() || !s.trusts(o.By) || o.SHA != s.Head || o.Record.Verdict != verdict.Approve || o.State == dismissed {
			continue
		}
		switch {
		case o.Record.BaseBranch != s.BaseBranch:
			return fmt.Sprintf("%s approved it for %s, but it is now to be merged into %s", o.By, o.Record.BaseBranch, s.BaseBranch)
		case o.Rebased:
			return fmt.Sprintf("%s was force-pushed since %s approved: it no longer contains %.7s", s.BaseBranch, o.By, o.Record.Base)
		case o.Outdated:
			return fmt.Sprintf("%s has changed since %s approved, and merging this head would now change something else", s.BaseBranch, o.By)
		}
	}
	return fmt.Sprintf("no review that counts approved %.7s", s.Head)
}

// by are the logins of the reviews at the given indices.
func (s State) by(indices []int) string {
	var all []string
	for _, i := range indices {
		all = append(all, s.Opinions[i].By)
	}
	return strings.Join(all, " and ")
}

// holdNames describe each kind of hold.
var holdNames = map[verdict.HoldKind]string{
	verdict.QualityBar:   "the quality bar is lowered",
	verdict.HiddenText:   "it holds text that readers do not see",
	verdict.Manipulation: "it tries to influence its reviewer",
}

// holds says, after a colon, why reviews of this head hold it for a person, or "".
func (s State) holds() string {
	var all []string
	add := func(why string) {
		if why != "" && !slices.Contains(all, why) {
			all = append(all, why)
		}
	}
	for _, i := range s.counted() {
		o := s.Opinions[i]
		if !s.stands(o) || s.approved(i) {
			continue
		}
		for _, h := range o.Record.Holds {
			add(cmp.Or(holdNames[h.Kind], string(h.Kind)))
		}
		if o.Record.Verdict == verdict.Approve {
			add(s.wordGone(*o.Record))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return ": " + strings.Join(all, ", ")
}

// counted are the indices of the reviews of this head that count. For a reviewer's agent they include its own
// review, even if its configuration does not list it among the reviewers.
func (s State) counted() []int {
	all := s.Counting()
	if i := s.own(); s.Role == Reviewer && i >= 0 && !slices.Contains(all, i) {
		all = append(all, i)
	}
	return all
}

// wordGone says whose word is missing for an approval that rested on a person's word.
func (s State) wordGone(r verdict.Record) string {
	switch w := r.Lifted; {
	case w == nil:
		return ""
	case w.BrokeGlass:
		return fmt.Sprintf("the break-glass order by %s is no longer valid: it was deleted or edited, or its author may not give it", w.By)
	default:
		return fmt.Sprintf("%s, who let it pass, no longer approves it or may no longer push", w.By)
	}
}

// requested says who requests changes of this head, and which findings stand.
func (s State) requested() string {
	var all []string
	for _, i := range s.Counting() {
		o := s.Opinions[i]
		if !s.stands(o) || s.approved(i) {
			continue
		}
		why := Found(s.withOrders(*o.Record).Outstanding())
		switch {
		case o.Record.Verdict == verdict.Approve:
			all = append(all, s.wordGone(*o.Record))
			continue
		case why == "" && len(o.Record.Holds) > 0:
			why = "it is held for a person"
		case why == "":
			why = "without a finding that is still open; it says why"
		}
		all = append(all, fmt.Sprintf("the review of %.7s by %s requests changes, round %d: %s", s.Head, o.By, o.Record.Round, why))
	}
	return cmp.Or(strings.Join(all, "; "), objected)
}

// Found counts findings by severity, the worst first: "1 critical, 2 major"; "" for none.
func Found(findings []verdict.Entry) string {
	count := map[verdict.Severity]int{}
	for _, f := range findings {
		count[f.Severity]++
	}
	return strings.Join(verdict.Counts(count), ", ")
}

// opposed says who requests changes, and since when.
func opposed(against []Opinion) string {
	var all []string
	for _, o := range against {
		all = append(all, fmt.Sprintf("%s requests changes since %s", o.By, verdict.Stamp(o.At)))
	}
	return strings.Join(all, "; ")
}

// most is how many names a reason lists.
const most = 3

// named builds a phrase about checks from their names: for one, for several, or for none.
func named(checks []string, one, several, none string) string {
	switch len(checks) {
	case 0:
		return none
	case 1:
		return fmt.Sprintf("the check %q %s", verdict.Clip(checks[0], verdict.MaxReason), one)
	}
	var all []string
	for _, name := range checks[:min(most, len(checks))] {
		all = append(all, strconv.Quote(verdict.Clip(name, verdict.MaxReason)))
	}
	if more := len(checks) - most; more > 0 {
		all = append(all, fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("the checks %s %s", strings.Join(all, ", "), several)
}

package reviewer

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"touchstone/agent/reviewer/change"
	"touchstone/guidelines"
	"touchstone/verdict"
)

// maxEvidence bounds the pieces of evidence that a session must answer. If there are more, all pieces of one
// kind become one.
const maxEvidence = 40

// These bound, in bytes, what a piece of evidence says of a further place, and the text of one that has such places.
const (
	maxAlso   = 300
	maxMerged = maxDoubt + 3*maxAlso
)

// grouped merges the evidence of each kind in each file into one piece, keeping the order, and numbers the
// pieces. A piece says what each place has, as far as there is room, and how many there are.
func grouped(all []verdict.Evidence) []verdict.Evidence {
	by := func(key func(e verdict.Evidence) string) (groups []verdict.Evidence) {
		at := map[string]int{}
		for _, e := range all {
			i, known := at[key(e)]
			if !known {
				at[key(e)] = len(groups)
				groups = append(groups, e)
				continue
			}
			g := &groups[i]
			g.More += 1 + e.More
			if len(g.Detail) <= maxMerged-maxAlso {
				g.Detail += also(e)
			}
		}
		return groups
	}
	groups := by(func(e verdict.Evidence) string { return e.Kind + " " + e.Rule + " " + e.Path })
	if len(groups) > maxEvidence {
		groups = by(func(e verdict.Evidence) string { return e.Kind + " " + e.Rule })
	}
	for i := range groups {
		groups[i].ID = fmt.Sprintf("E%d", i+1)
	}
	return groups
}

// also is what a piece of evidence says besides another one. Code that is cut ends in it.
func also(e verdict.Evidence) string {
	text := clip(" Also at "+verdict.Place(change.Spell(e.Path), e.Line)+": "+e.Detail, maxAlso-5)
	if _, n := unended(text, 0); n > 0 {
		text += " " + strings.Repeat("`", n)
	}
	return text
}

// suspected is the evidence that the answer on one part of the change must cover: the evidence in the part's
// files and, for the last part, the evidence in no changed file.
func (m material) suspected(part int) []verdict.Evidence {
	partOf := m.partOf()
	return slices.DeleteFunc(slices.Clone(m.suspicions), func(e verdict.Evidence) bool { return partOf(change.Spell(e.Path)) != part })
}

// evidence lists the evidence that a part's answer must cover, one line each.
func (m material) evidence(part int) string {
	due := m.suspected(part)
	if len(due) == 0 {
		return ""
	}
	var list strings.Builder
	for _, e := range due {
		if !isCandidate(e) && slices.ContainsFunc(m.criteria.rules, func(a guidelines.Applied) bool { return a.Row.ID == e.Rule }) {
			e.Kind += " (" + e.Rule + ")" // what a finding cites
		}
		fmt.Fprintf(&list, "- %s %s\n", e.ID, describe(e, math.MaxInt, math.MaxInt))
	}
	by := ""
	if slices.ContainsFunc(due, isCandidate) {
		by = "Each candidate is a finding of another session, which walked a part of the dimensions: read the source again, and have one " +
			"finding of yours answer those that are the same. "
	}
	return "\n# Evidence\n\n" + by + "Code suspects what follows and is not certain of it. Look at each place. Answer every line: by a " +
		"finding whose \"evidence\" names its id, or under \"refuted\" with its id and the reason why it is nothing. A line without an answer " +
		"is unreviewed, and the review cannot approve.\n" +
		m.whole(Passage{"evidence", list.String()})
}

// describe is a piece of evidence in one line, with no more than these many bytes of its place, and of what it says.
func describe(e verdict.Evidence, place, detail int) string {
	where := clip(verdict.Place(change.Spell(e.Path), e.Line), place)
	if e.More > 0 {
		where += " and " + verdict.Amount(e.More, "more place", "more places")
	}
	return fmt.Sprintf("%s at %s: %s", e.Kind, where, clip(verdict.OneLine(e.Detail), detail))
}

const suspectedHeading = "#### What code suspected\n\n"

// answered lists the evidence with the session's answers.
func answered(all []verdict.Evidence) (lines []string) {
	for _, e := range all {
		if isCandidate(e) && e.Finding != "" {
			continue // the finding itself says it
		}
		said := "**unreviewed**: the session gave no answer"
		switch {
		case e.Finding != "":
			said = verdict.FindingTag(e.Finding)
		case e.Refuted != "":
			said = "refuted: " + inline(e.Refuted)
		}
		lines = append(lines, fmt.Sprintf("- %s — %s", inline(describe(e, maxPlace, verdict.MaxReason)), said))
	}
	return lines
}

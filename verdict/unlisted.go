package verdict

import (
	"fmt"
	"slices"
	"strings"

	"touchstone/worktree/lazyregexp"
)

// namedFinding matches a line of a session's text that has the form of a finding: it begins with a
// dimension's tag, a severity or both, after at most list, quote and emphasis marks.
var namedFinding = lazyregexp.New(`(?i)^[\s>*_#\d.)-]*(?:\[([a-z-]+)\][\s*_]*)?(critical|major|minor)\b`)

// refutation matches the words by which a session says that a candidate is no finding.
var refutation = lazyregexp.New(`(?i)\brefuted\b|\bruled out\b|\b(?:no|not a) finding\b|\bdoes not hold\b`)

// ruleID matches the id of a guideline row in a text, such as "security/S3".
var ruleID = lazyregexp.New(`(?i)\b[a-z][a-z-]*/[a-z]+\d+\b`)

// doubtUnlisted reports findings that the session's prose names but its list of findings lacks: that is how a
// session talks a finding away. A line counts if it has the form of a finding, a severity that blocks, a row
// that applies, and a line of a changed file. Other prose is ignored. So is a candidate that the session says
// it refuted, which it could also have left out; and a finding of an earlier round, since the ledger makes
// the session answer for it.
func (j *Judgement) doubtUnlisted(g Grounds, prose string) {
	for line := range strings.Lines(prose) {
		if !namedFinding.MatchString(line) || refutation.MatchString(line) {
			continue
		}
		rule := g.cited(line)
		path := g.placed(line)
		if rule != "" && path != "" && !j.holds(rule, path) && !g.known(rule, path) {
			j.doubt(fmt.Sprintf("The session's text names a finding under %s in %q that its list of findings lacks: it has to be a finding, or "+
				"refuted.",
				rule, Clip(path, maxDoubt)))
		}
	}
}

// cited is the applicable row that a line of text cites, or "".
func (g Grounds) cited(line string) string {
	for _, id := range ruleID.FindAllString(line, -1) {
		for row := range g.Rows {
			if strings.EqualFold(row, id) {
				return row
			}
		}
	}
	return ""
}

// placed is the changed file that a line of text names with a line number, as in "a.go:12", or "".
func (g Grounds) placed(line string) string {
	for _, path := range g.Changed {
		_, rest, found := strings.Cut(line, path+":")
		if found && rest != "" && rest[0] >= '0' && rest[0] <= '9' {
			return path
		}
	}
	return ""
}

// known reports whether an earlier round has a finding under a rule in a file.
func (g Grounds) known(rule, path string) bool {
	return slices.ContainsFunc(g.Ledger, func(e Entry) bool { return e.Rule == rule && e.Path == path })
}

// holds reports whether the answer has a finding, kept, merged or dropped, under a rule in a file.
func (j *Judgement) holds(rule, path string) bool {
	same := func(f Finding) bool { return f.Rule == rule && f.Path == path }
	return slices.ContainsFunc(j.Answer.Findings, same) ||
		slices.ContainsFunc(j.Merged, func(m Merged) bool { return same(m.Finding) }) ||
		slices.ContainsFunc(j.Dropped, func(d Dropped) bool { return same(d.Finding) })
}

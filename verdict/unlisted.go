package verdict

import (
	"fmt"
	"slices"
	"strings"

	"touchstone/worktree/lazyregexp"
)

// namedFinding is a line of a session's text in the form of a finding: a dimension's tag, a
// severity or both in front, behind nothing but list, quote and emphasis marks.
var namedFinding = lazyregexp.New(`(?i)^[\s>*_#\d.)-]*(?:\[([a-z-]+)\][\s*_]*)?(critical|major|minor)\b`)

// refutation is how a session says of a candidate that it is no finding.
var refutation = lazyregexp.New(`(?i)\brefuted\b|\bruled out\b|\b(?:no|not a) finding\b|\bdoes not hold\b`)

// ruleID is a guideline row's id as a text cites it, such as "security/S3".
var ruleID = lazyregexp.New(`(?i)\b[a-z][a-z-]*/[a-z]+\d+\b`)

// doubtUnlisted flags what the session's text reports in the form of a finding, with a
// severity that blocks, a row that applies and a changed file's line, and its findings do
// not hold: that is how a finding is talked away. What a session tells of its work in any
// other form is not looked at, nor a candidate that it says it refuted, which it could as well
// have kept to itself, nor a finding of an earlier round, for which the ledger has it answer.
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

// cited is the row that applies and that a line of text cites, or "".
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

// placed is the changed file of which a line of text names a line, as in "a.go:12", or "".
func (g Grounds) placed(line string) string {
	for _, path := range g.Changed {
		_, rest, found := strings.Cut(line, path+":")
		if found && rest != "" && rest[0] >= '0' && rest[0] <= '9' {
			return path
		}
	}
	return ""
}

// known reports whether an earlier round found something by a rule in a file.
func (g Grounds) known(rule, path string) bool {
	return slices.ContainsFunc(g.Ledger, func(e Entry) bool { return e.Rule == rule && e.Path == path })
}

// holds reports whether a finding of the answer, kept, merged or dropped, is of a rule and a file.
func (j *Judgement) holds(rule, path string) bool {
	same := func(f Finding) bool { return f.Rule == rule && f.Path == path }
	for _, f := range j.Answer.Findings {
		if same(f) {
			return true
		}
	}
	for _, m := range j.Merged {
		if same(m.Finding) {
			return true
		}
	}
	for _, d := range j.Dropped {
		if same(d.Finding) {
			return true
		}
	}
	return false
}

package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"touchstone/worktree/lazyregexp"
)

// Candidate is a possible defect that a session looked into and refuted.
type Candidate struct {
	Rule  string `json:"rule"`
	Path  string `json:"path"`
	Line  int    `json:"line"`
	Claim string `json:"claim"`
	// Reason says what makes the claim untrue.
	Reason string `json:"reason"`
	// Seen is the file that shows this, the candidate's own if it is empty. Quote is the code there, at the
	// head or before the change.
	Seen  string `json:"seen,omitempty"`
	Quote string `json:"quote"`
}

// Named is a possible defect that an answer named, by its place and the rows that it cited.
type Named struct {
	// Paths are a changed file or the name of a text of the pull request; several if it is open which of them is meant.
	Paths []string
	Rules []string
	// Quote is what names it in the answer's text, if another session read that.
	Quote string
	// Listed counts what the answer lists there about something else.
	Listed int
}

// doubtAccount reports what the answer names without accounting for it: candidates that are not shown to be untrue,
// possible defects that only its text has, and those that an earlier answer named.
func (j *Judgement) doubtAccount(s sources, g Grounds) []string {
	return slices.Concat(j.doubtCandidates(s), j.doubtUnlisted(g), j.doubtNamed(g))
}

// doubtNamed reports the possible defects that an earlier answer to the same question named without accounting
// for them, and that this one passes over in silence.
func (j *Judgement) doubtNamed(g Grounds) (doubts []string) {
	for _, n := range g.Named {
		if j.entries(g, n) <= n.Listed {
			j.Named = append(j.Named, n)
			doubts = append(doubts, fmt.Sprintf("The session's first answer names a possible defect%s in %q that the second neither has among "+
				"its findings nor among its candidates.", n.under(), Clip(n.Paths[0], maxDoubt)))
		}
	}
	return doubts
}

// meant is what a dropped finding was about.
func (g Grounds) meant(f Finding) Named {
	n := Named{Paths: []string{cmp.Or(f.Path, f.Text)}}
	if _, applies := g.Rows[f.Rule]; applies {
		n.Rules = []string{f.Rule}
	}
	return n
}

// under names the first row, for use in a sentence.
func (n Named) under() string {
	if len(n.Rules) == 0 {
		return ""
	}
	return " under " + Clip(n.Rules[0], maxRule)
}

// doubtCandidates reports candidates that are not shown to be untrue, and keeps those that are. A reason alone is no
// proof: "it follows an existing pattern" and "it is handled later" excuse a defect in the words that also refute one.
func (j *Judgement) doubtCandidates(s sources) (doubts []string) {
	if n := len(j.Answer.Candidates); n > MaxFindings {
		j.Answer.Candidates = j.Answer.Candidates[:MaxFindings]
		j.miss(fmt.Sprintf("The session gave %d candidates; only the first %d are kept.", n, MaxFindings))
	}
	var shown []Candidate
	for _, c := range j.Answer.Candidates {
		c.Path, c.Seen = s.path(c.Path), s.path(cmp.Or(strings.TrimSpace(c.Seen), c.Path))
		lack := s.unproven(c)
		if lack == "" {
			shown = append(shown, c)
			continue
		}
		j.Named = append(j.Named, Named{Paths: []string{c.Path}, Rules: []string{c.Rule}})
		if slices.ContainsFunc(j.Answer.Findings, Finding.Blocks) { // else it is asked for
			lost := Finding{Severity: Nit, Rule: c.Rule, Path: c.Path, Line: c.Line, Claim: c.Claim}
			j.Dropped = append(j.Dropped, Dropped{Finding: lost, Reason: "the session refuted it, but " + lack})
		}
		doubts = append(doubts, fmt.Sprintf("The session refuted a candidate under %s at %q, but %s: it has to be shown by a quote of code, or "+
			"be a finding.", Clip(c.Rule, maxRule), Clip(Place(c.Path, c.Line), maxDoubt), lack))
	}
	j.Answer.Candidates = shown
	return doubts
}

// unproven says what a candidate's refutation lacks, as a clause, or "".
func (s sources) unproven(c Candidate) string {
	if strings.TrimSpace(c.Claim) == "" || strings.TrimSpace(c.Reason) == "" {
		return "it does not say what or why"
	}
	if Weight(c.Quote) < shortQuote {
		return "it quotes nothing, or too little"
	}
	now, err := look(s.head, c.Seen, s.File)
	if err != nil {
		return unreadable(c.Seen, err)
	}
	if from, to, ok := now.find(c.Quote, 0, c.Line); ok {
		return s.comments(s.File, c.Seen, from, to)
	}
	// What the change removed can show it, too.
	was, err := look(s.before, c.Seen, s.Before)
	from, to, ok := was.find(c.Quote, 0, 0)
	if err != nil || !ok {
		return "what it quotes is not there"
	}
	return s.comments(s.Before, c.Seen, from, to)
}

// unreadable says, as a clause, that a file could not be read.
func unreadable(path string, err error) string {
	return fmt.Sprintf("%q could not be read (%s)", Clip(path, maxDoubt), Clip(err.Error(), maxDoubt))
}

// comments says, as a clause, that lines of a file hold nothing but comments, or cannot be read, or "".
func (s sources) comments(read func(string) ([]byte, error), path string, from, to int) string {
	if s.Code == nil {
		return ""
	}
	content, err := read(path)
	switch {
	case err != nil:
		return unreadable(path, err)
	case !s.Code(path, string(content), from, to):
		return "it quotes a comment"
	}
	return ""
}

var (
	// severityWord matches a severity that blocks. defectWord matches what a defect is called.
	severityWord = lazyregexp.New(`(?i)\b(?:critical|major|minor)\b`)
	defectWord   = lazyregexp.New(`(?i)\b(?:bug|defect|findings?)\b`)
	// harmless matches severities in words for other things, and a severity or defects of which a text says that
	// there is none. "No finding", of one, is also how a text talks one away.
	harmless = lazyregexp.New(`(?i)\bcritical (?:sections?|paths?|regions?)\b|\b(?:major|minor)[- ](?:versions?|releases?|upgrades?|updates?` +
		`|bumps?)\b|\b(?:no|without|zero|neither)(?:[\s/,*]+(?:any|and|or|nor|other|further|new|blocking|critical|major|minor))*[\s/,*]+` +
		`(?:critical|major|minor|bugs|defects|findings)\b`)
	// elsewhere matches what shows that a bare id is the name of something else, such as the S3 of a cloud.
	elsewhere = lazyregexp.New(`(?i)\b(?:to|from|in|into|on|onto|via|aws|amazon)\s+[A-Z][0-9]+(?:\s|[.,:;)'-]|$)` +
		`|\b[A-Z][0-9]+[\s-]+(?:buckets?|objects?|clients?|keys?|uploads?|urls?|uris?|storage|api|compatible)\b`)
	// rowID matches the id of a guideline row in a text, such as "security/S3", or "S3".
	rowID = lazyregexp.New(`\b(?:[A-Za-z][A-Za-z-]*/)?[A-Za-z]+\d+\b`)
)

// doubtUnlisted reports possible defects that the session's text names but its answer does not account for:
// that is how a session talks a finding away. A line of text counts if it names a changed file, or a text of
// the pull request, and two of these: a row that applies, a severity that blocks, a line of the file. The word
// finding, or a synonym, together with a line of a file counts as well. The session has to list the defect as
// a finding or as a candidate. No words can tell an excuse from a refutation, so none are looked for: lists of
// words that saw half of the excuses blocked as many refutations.
func (j *Judgement) doubtUnlisted(g Grounds) (doubts []string) {
	for line := range strings.Lines(j.Text) {
		rules := g.cited(line)
		said := harmless.ReplaceAllString(line, "")
		severe, called := severityWord.MatchString(said), defectWord.MatchString(said)
		if len(rules) == 0 && !severe && !called {
			continue
		}
		places, numbered := g.placed(line)
		signs := 0
		for _, sign := range []bool{len(rules) > 0, severe, numbered} {
			if sign {
				signs++
			}
		}
		defect := signs > 1 || numbered && called
		n := Named{Paths: places, Rules: rules}
		if len(places) == 0 || !defect || j.entries(g, n) > 0 {
			continue
		}
		j.Named = append(j.Named, n)
		doubts = append(doubts, fmt.Sprintf("The session's text names a possible defect%s in %q that is neither among its findings nor among "+
			"its candidates: it has to be one of them.", n.under(), Clip(n.Paths[0], maxDoubt)))
	}
	return doubts
}

// cited are the applicable rows that a line of text cites, by their ids or the ends of these.
func (g Grounds) cited(line string) (rows []string) {
	for _, id := range rowID.FindAllString(elsewhere.ReplaceAllString(line, " "), -1) {
		for row := range g.Rows {
			if strings.EqualFold(row, id) || strings.HasSuffix(row, "/"+id) {
				rows = append(rows, row)
			}
		}
	}
	slices.Sort(rows)
	return slices.Compact(rows)
}

// entries counts what an answer has in one of the files or texts, under one of the rules if there are any: findings,
// kept, merged or dropped, candidates, findings of earlier rounds, and evidence. A dropped finding is no entry for what
// another session read: it is in no list that this session sees.
func (j *Judgement) entries(g Grounds, n Named) (count int) {
	tally := func(rule, at string) {
		if slices.Contains(n.Paths, at) && (len(n.Rules) == 0 || slices.Contains(n.Rules, rule)) {
			count++
		}
	}
	for _, f := range j.Answer.Findings {
		tally(f.Rule, cmp.Or(f.Path, f.Text))
	}
	for _, m := range j.Merged {
		tally(m.Finding.Rule, cmp.Or(m.Finding.Path, m.Finding.Text))
	}
	for _, d := range j.Dropped {
		if n.Quote != "" {
			break
		}
		tally(d.Finding.Rule, cmp.Or(d.Finding.Path, d.Finding.Text))
	}
	for _, c := range j.Answer.Candidates {
		tally(c.Rule, c.Path)
	}
	for _, e := range g.Ledger {
		tally(e.Rule, cmp.Or(e.Path, e.Text))
	}
	for _, e := range g.Evidence {
		tally(e.Rule, e.Path)
	}
	return count
}

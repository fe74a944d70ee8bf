package verdict

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// MaxFindings bounds how many findings of one answer are read. A model that lists more has lost its way: the
// rest is dropped and the verdict blocks.
const MaxFindings = 200

// Fence is the info string of the fenced block that holds the answer's data.
const Fence = "touchstone"

// Answer is the data that a reviewing session returns besides its prose.
type Answer struct {
	Summary    string     `json:"summary"`
	Dimensions []Examined `json:"dimensions"`
	// Files are the changed files that the session examined.
	Files    []string  `json:"files"`
	Findings []Finding `json:"findings"`
	// Gone are the findings of earlier rounds that the session says are gone.
	Gone []Gone `json:"gone,omitempty"`
	// Refuted are the pieces of evidence that the session says are no problem.
	Refuted []Refutation `json:"refuted,omitempty"`
	// Candidates are the possible defects that the session refuted.
	Candidates []Candidate `json:"candidates,omitempty"`
}

// Examined says what a session examined under one dimension.
type Examined struct {
	Dimension Dimension `json:"dimension"`
	Examined  string    `json:"examined"`
}

// Grounds is what an answer is checked against.
type Grounds struct {
	// Changed are the files that the session had to examine, spelled as in its prompt.
	Changed []string
	// Opened, if set, reports whether the session opened the patch of a changed file.
	Opened func(path string) bool
	// Idle are the dimensions without a row that applies to the change: an answer may skip them.
	Idle []Dimension
	// Rows are the guideline rows that apply to the change. Each maps to the mildest severity that a finding
	// under it may have.
	Rows map[string]Severity
	// File returns a file at the head. Paths are spelled as in Changed. The error is fs.ErrNotExist if there
	// is no such file.
	File func(path string) ([]byte, error)
	// Before returns a file as it was before the change, under its present name. If nil, findings cannot
	// quote deleted code.
	Before func(path string) ([]byte, error)
	// Code, if set, reports whether lines of a file, counted from 1 and both included, hold anything but comments.
	Code func(path, content string, from, to int) bool
	// Texts are the pull request's own texts as the session saw them: TitleText, DescriptionText and
	// MessagesText.
	Texts map[string]string
	// Ledger holds the findings of earlier rounds.
	Ledger Ledger
	// Due are the ledger's entries that the answer must account for.
	Due []Entry
	// Evidence is what code suspects. The answer must say of each piece what it is.
	Evidence []Evidence
	// Named are the possible defects that an earlier answer to the same question named and did not account for.
	Named []Named
	// Touched, if set, reports whether a file differs between the head and an earlier round; with no path,
	// whether any file does. Restated, if set, reports the same of one of Texts.
	Touched  func(round int, path string) bool
	Restated func(round int, text string) bool
	// Late, if set, reports whether a new finding is about code that earlier rounds could have seen.
	Late func(Finding) bool
	// Ratchet lets late findings of minor severity pass.
	Ratchet bool
}

// Dropped is a finding that the checks rejected.
type Dropped struct {
	Finding Finding
	// Reason is a sentence fragment for people. It can quote the answer.
	Reason string
	// Superseded says that another answer counts instead of the one with the finding. The finding then stands
	// against nothing.
	Superseded bool
}

// blocks reports whether the finding stands against an approval although it was dropped.
func (d Dropped) blocks() bool { return d.Finding.Blocks() && !d.Superseded }

// Merged is a finding that another one covers.
type Merged struct {
	Finding Finding
	// Into is the id of what covers it: a finding, an entry of the ledger or a piece of evidence.
	Into string
	// Reason is a sentence fragment for people.
	Reason string
}

// Judgement is what remains of a finished session's answer after it was checked.
type Judgement struct {
	Verdict Verdict
	Answer  Answer
	// Unreadable says that the answer's data could not be read.
	Unreadable bool
	// Text is all that the session said in words outside its lists: the prose before the data, the summary, and what it
	// examined. It is empty once another session has read it.
	Text string
	// Complete says that the session saw everything and that Answer holds all it found: a finding missing
	// there was looked for and is gone.
	Complete bool
	// Doubts say why the verdict differs from what the session concluded. They are sentences for the posted
	// review; an approval has none. They can quote the answer or a path, so they need [Neutralise] like any
	// such text.
	Doubts []string
	// Pending are the doubts about what blocks nothing while a finding does: they count once no finding blocks any more.
	Pending []string
	// Unread says that another session had to read the text and gave no valid answer.
	Unread bool
	// Dropped are the findings that do not hold. Merged are those that another finding covers. Together with
	// Answer's findings they are everything that the session reported.
	Dropped []Dropped
	Merged  []Merged
	// Overruled are the findings that another session refuted.
	Overruled []Overruling
	// Named are the possible defects that the answer names and does not account for, for Grounds of the next answer
	// to the same question. They include blocking findings that were dropped and candidates without proof.
	Named []Named
	// Holds are the reasons, found by code, why a person must let the head pass.
	Holds []Hold
	// Evidence is what code suspected, with the session's answers.
	Evidence []Evidence
}

// maxDoubt bounds, in bytes, how much foreign text a doubt quotes.
const maxDoubt = 240

// RunLine is the line that proves that a session saw this run's prompt. The nonce must be unguessable and
// never used twice.
func RunLine(nonce string) string { return "<!-- RUN:" + nonce + " -->" }

// Marker is the machine-readable last line of an answer and of a posted review.
func Marker(v Verdict) string { return "<!-- VERDICT:" + string(v) + " -->" }

// Judge derives the verdict from the whole answer of a finished session. The nonce must not be empty.
//
// Judge fails closed. The verdict is Approve only if all of this is true: the answer ends in this run's nonce
// and the approving marker; its data can be read; it walks every dimension and examines every changed file;
// no finding blocks; no blocking finding was dropped; no due finding of an earlier round had to be kept; its
// prose names no possible defect that its lists lack; it accounts for what an earlier answer named; it shows what
// refutes each candidate; it answers all evidence.
func Judge(text, nonce string, g Grounds) Judgement {
	body, marked, doubt := splitMarker(strings.ReplaceAll(text, "\r\n", "\n"), nonce)
	j := Judgement{Verdict: RequestChanges}
	j.doubt(doubt)
	answer, prose, err := parseAnswer(body)
	if err != nil {
		j.doubt(fmt.Sprintf("The session's findings could not be read (%s).", Clip(err.Error(), maxDoubt)))
		j.Unreadable, j.Text = true, beforeData(body)
		j.Doubts = append(j.Doubts, j.doubtUnlisted(g)...)
		return j
	}
	j.Answer, j.Complete = answer, true
	j.Text = told(prose, answer)
	j.normalise()
	s := g.sources()
	j.ground(s)
	kept := j.keep(s)
	j.doubtCoverage(g)
	blocking := count(j.Answer.Findings, Finding.Blocks) - kept
	doubts := j.doubtAccount(s, g)
	if marked == Approve || blocking == 0 {
		j.Doubts = append(j.Doubts, doubts...)
	} else {
		j.Pending = doubts // the next round sees the change again, unless another session refutes what blocks
	}
	for _, d := range j.Dropped {
		if d.blocks() {
			j.Named = append(j.Named, g.meant(d.Finding))
		}
	}
	j.weigh(g.Evidence)
	untrue := count(j.Dropped, Dropped.blocks)
	switch {
	case marked == Approve && blocking > 0:
		j.doubt(fmt.Sprintf("The session concluded APPROVE although %s.", Amount(blocking, "of its findings blocks", "of its findings block")))
	case marked == Approve && untrue > 0:
		j.doubt(fmt.Sprintf("The session concluded APPROVE although %s, and what it cites does not hold.",
			Amount(untrue, "of its findings would block", "of its findings would block")))
	case marked == RequestChanges && blocking+kept == 0:
		j.doubt("The session concluded REQUEST_CHANGES without naming a finding that blocks and holds.")
	}
	if marked == Approve && j.settled() && blocking+kept == 0 {
		j.Verdict = Approve
	}
	return j
}

// examinedLabel stands between a dimension and what was examined under it.
const examinedLabel = ", examined: "

// told joins what an answer says in words outside its lists. A dimension's name tells its few words from the prose.
func told(prose string, a Answer) string {
	texts := []string{prose, a.Summary}
	for _, e := range a.Dimensions {
		texts = append(texts, string(e.Dimension)+examinedLabel+e.Examined)
	}
	return strings.Join(texts, "\n")
}

// settled reports whether only findings and holds stand against the head.
func (j Judgement) settled() bool {
	return j.Complete && len(j.Doubts) == 0 && !slices.ContainsFunc(j.Dropped, Dropped.blocks)
}

// Conclusive reports whether the pull request's author can act on the judgement: it is an approval (holds
// aside), or it has findings that block. In any other judgement the doubts, or the earlier findings that were
// kept, may be due to how the session answered, and the same session can repair that.
func (j Judgement) Conclusive() bool {
	return j.Complete && !slices.ContainsFunc(j.Answer.Findings, func(f Finding) bool { return f.Kept != "" }) &&
		(j.settled() || slices.ContainsFunc(j.Answer.Findings, Finding.Blocks))
}

// Add adds a finding that code made. Such a finding is not checked.
func (j *Judgement) Add(f Finding) {
	f.ID = Fingerprint(f)
	j.Answer.Findings = append(j.Answer.Findings, f)
	if f.Blocks() {
		j.Verdict = RequestChanges
	}
}

// Join combines the judgements of a review that took several answers, each on a part of the change. What one
// of them found, missed or doubted counts for all.
func Join(parts ...Judgement) Judgement {
	all := Judgement{Verdict: RequestChanges, Complete: len(parts) > 0}
	approved := len(parts) > 0
	at := map[string]int{}
	for _, j := range parts {
		approved = approved && j.Verdict == Approve
		all.Complete = all.Complete && j.Complete
		for _, d := range j.Doubts {
			if !slices.Contains(all.Doubts, d) {
				all.Doubts = append(all.Doubts, d)
			}
		}
		all.Pending = append(all.Pending, j.Pending...)
		all.Unread = all.Unread || j.Unread
		all.Text = strings.TrimSpace(all.Text + "\n\n" + j.Text)
		all.Dropped = append(all.Dropped, j.Dropped...)
		all.Merged = append(all.Merged, j.Merged...)
		all.Overruled = append(all.Overruled, j.Overruled...)
		all.Holds = append(all.Holds, j.Holds...)
		all.Evidence = joined(all.Evidence, j.Evidence)
		if !strings.Contains(all.Answer.Summary, j.Answer.Summary) {
			all.Answer.Summary = strings.TrimSpace(all.Answer.Summary + "\n\n" + j.Answer.Summary)
		}
		all.Answer.Files = append(all.Answer.Files, j.Answer.Files...)
		all.Answer.Gone = append(all.Answer.Gone, j.Answer.Gone...)
		all.Answer.Candidates = append(all.Answer.Candidates, j.Answer.Candidates...)
		for _, e := range j.Answer.Dimensions {
			all.Answer.walk(e)
		}
		for _, f := range j.Answer.Findings {
			i, known := at[f.ID]
			if !known {
				at[f.ID] = len(all.Answer.Findings)
				all.Answer.Findings = append(all.Answer.Findings, f)
			} else {
				all.Answer.Findings[i].atLeast(f.Severity)
				if f.Kept == "" {
					all.Answer.Findings[i].Kept = ""
				}
			}
		}
	}
	if approved {
		all.Verdict = Approve
	}
	return all
}

// walk adds what was examined under a dimension, to that dimension's entry if there is one.
func (a *Answer) walk(e Examined) {
	for i := range a.Dimensions {
		if a.Dimensions[i].Dimension == e.Dimension {
			a.Dimensions[i].Examined += " " + e.Examined
			return
		}
	}
	a.Dimensions = append(a.Dimensions, e)
}

// miss adds a doubt that also says that the session did not see everything.
func (j *Judgement) miss(sentence string) {
	j.Complete = false
	j.doubt(sentence)
}

// Withhold takes an approval back for a reason outside the answer, such as a change that could not be shown
// whole. The sentence says why.
func (j *Judgement) Withhold(sentence string) {
	j.Verdict = RequestChanges
	j.miss(sentence)
}

func (j *Judgement) doubt(sentence string) {
	if sentence != "" {
		j.Doubts = append(j.Doubts, sentence)
	}
}

// normalise repairs harmless mistakes and raises an unknown severity to major: a finding that could be
// decoded is never lost for its wording.
func (j *Judgement) normalise() {
	if n := len(j.Answer.Findings); n > MaxFindings {
		j.Answer.Findings = j.Answer.Findings[:MaxFindings]
		j.miss(fmt.Sprintf("The session gave %d findings; only the first %d are kept.", n, MaxFindings))
	}
	for i := range j.Answer.Findings {
		f := &j.Answer.Findings[i]
		if d, ok := dimension(string(f.Dimension)); ok {
			f.Dimension = d
		} else {
			j.doubt(fmt.Sprintf("Finding %d names no known dimension.", i+1))
			f.Dimension = Architecture
		}
		severity := Severity(strings.ToLower(strings.TrimSpace(string(f.Severity))))
		switch severity {
		case Critical, Major, Minor, Nit:
			f.Severity = severity
		default:
			j.doubt(fmt.Sprintf("Finding %d has no known severity and counts as major.", i+1))
			f.Severity = Major
		}
		if f.Line < 0 || f.StartLine < 0 {
			f.Line, f.StartLine = 0, 0
		}
		if f.StartLine > f.Line {
			f.StartLine, f.Line = f.Line, f.StartLine
		}
	}
}

// doubtCoverage compares what the session says it examined with what it had to examine. A file that it never
// opened does not count as examined.
func (j *Judgement) doubtCoverage(g Grounds) {
	walked := map[Dimension]bool{}
	for _, e := range j.Answer.Dimensions {
		if d, ok := dimension(string(e.Dimension)); ok && strings.TrimSpace(e.Examined) != "" {
			walked[d] = true
		}
	}
	var missing []string
	for _, d := range Dimensions() {
		if !walked[d] && !slices.Contains(g.Idle, d) {
			missing = append(missing, string(d))
		}
	}
	if len(missing) > 0 {
		j.miss("The session did not say what it examined under " + strings.Join(missing, ", ") + ".")
	}
	examined := map[string]bool{}
	for _, f := range j.Answer.Files {
		examined[f], examined[cleanPath(f)] = true, true
	}
	var unread, closed []string
	for _, f := range g.Changed {
		switch {
		case !examined[f]: // compared exactly: names in git may differ only in what cleanPath removes
			unread = append(unread, f)
		case g.Opened != nil && !g.Opened(f):
			closed = append(closed, f)
		}
	}
	if len(unread) > 0 {
		j.miss(fmt.Sprintf("The session did not examine %s, %q the first.",
			Amount(len(unread), "changed file", "changed files"), Clip(unread[0], maxDoubt)))
	}
	if len(closed) > 0 {
		j.miss(fmt.Sprintf("The session says that it examined %s whose patch it never opened, %q the first.",
			Amount(len(closed), "changed file", "changed files"), Clip(closed[0], maxDoubt)))
		j.Answer.Files = slices.DeleteFunc(j.Answer.Files,
			func(f string) bool { return slices.Contains(closed, f) || slices.Contains(closed, cleanPath(f)) })
	}
}

func cleanPath(p string) string {
	p = strings.TrimSpace(p)
	if p == "" {
		return ""
	}
	return strings.TrimPrefix(path.Clean("/"+p), "/")
}

func count[T any](all []T, is func(T) bool) int {
	n := 0
	for _, one := range all {
		if is(one) {
			n++
		}
	}
	return n
}

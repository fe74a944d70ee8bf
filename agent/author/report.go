package author

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"touchstone/agent/forge"
	"touchstone/verdict"
	"touchstone/worktree/lazyregexp"
)

// word is what a session says about one finding: the form, and the text after it.
type word struct{ form, text string }

// The forms of a word.
const (
	repaired = "Repaired"
	disputed = "Disputed"
	person   = "Needs a person"
)

// report is what a session says about the open findings, by id, and about the failed checks, by number, in
// the lines that it is asked for. It also has the subject for the commit. The latest word about a finding or
// check counts.
type report struct {
	words   map[string]word
	subject string
	// wrong are lines that cannot be used: they are about something that is no open finding or failed check,
	// or they put one in two forms at once.
	wrong []string
}

var (
	wordLine = lazyregexp.New(`(?m)^[-*> \t]*(Repaired|Disputed|Needs a person)[ \t*]+` + "`?(check [0-9]{1,3}|[0-9a-zA-Z]{1,40})`?" +
		`[ \t*]*:[ \t*]*(\S[^\r\n]*)$`)
	subjectLine = lazyregexp.New(`(?m)^[-*> \t]*Commit[ \t*]*:[ \t*]*(\S[^\r\n]*)$`)
	// unfit matches subjects that git, CI or this program would misinterpret.
	unfit = lazyregexp.New(`(?i)^(?:touchstone-|merge |revert |fixup! |squash! |amend! |skip-checks)`)
)

const (
	// maxEvidence bounds, in bytes, how much of a word is repeated. maxSubject bounds a commit's subject.
	maxEvidence = 400
	maxSubject  = 100
)

// read reads an answer to a brief.
func (r *report) read(answer string, b brief) {
	said := map[string]word{}
	r.wrong = nil
	for _, m := range wordLine.FindAllStringSubmatch(answer, -1) {
		form, id, text := m[1], m[2], verdict.Clip(line(m[3]), maxEvidence)
		before, known := said[id]
		switch {
		case !b.asks(id):
			r.wrong = append(r.wrong, id+" is no open finding and no failed check")
		case form == disputed && b.asksCheck(id):
			r.wrong = append(r.wrong, id+" cannot be disputed")
		case known && before.form != form:
			r.wrong = append(r.wrong, id+" cannot be both "+before.form+" and "+form)
			said[id] = word{}
		case !known:
			said[id] = word{form, text}
		}
	}
	if r.words == nil {
		r.words = map[string]word{}
	}
	maps.Copy(r.words, said)
	if m := subjectLine.FindStringSubmatch(answer); m != nil && !unfit.MatchString(line(m[1])) {
		r.subject = verdict.Clip(line(m[1]), maxSubject)
	}
}

// of are the texts of the words of one form, by id.
func (r report) of(form string) map[string]string {
	texts := map[string]string{}
	for id, w := range r.words {
		if w.form == form {
			texts[id] = w.text
		}
	}
	return texts
}

// checkID is the id of the failed check with index n in a report.
func checkID(n int) string { return fmt.Sprintf("check %d", n+1) }

// asks reports whether the session was asked about a finding or a check with this id.
func (b brief) asks(id string) bool { return slices.Contains(ids(b.ledger), id) || b.asksCheck(id) }

func (b brief) asksCheck(id string) bool {
	for n := range b.failed {
		if id == checkID(n) {
			return true
		}
	}
	return false
}

// missing are the open findings without a word.
func (r report) missing(open verdict.Ledger) []string {
	return slices.DeleteFunc(ids(open), func(id string) bool { return r.words[id].form != "" })
}

// brackets replaces the brackets by which a commit message can keep CI from running
// (https://docs.github.com/actions/managing-workflow-runs/skipping-workflow-runs).
var brackets = strings.NewReplacer("[", "(", "]", ")")

// closing matches the words by which a commit on the default branch closes an issue
// (https://docs.github.com/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue).
var closing = lazyregexp.New(`(?i)\b(close[sd]?|fix(?:e[sd])?|resolve[sd]?)(?:: ?| )` +
	`((?:[\w.-]+/[\w.-]+)?#\d|GH-\d|https?://\S+/(?:issues|pull)/\d)`)

// line makes a model's text safe in a commit message: a mention there notifies people, a line break could
// forge a trailer, brackets could skip CI, certain words close issues, and a leaked credential cannot be taken back.
func line(s string) string {
	redacted := "[redacted]"
	s = strings.Join(strings.Fields(verdict.Prose(forge.Redact(s))), " ")
	s = closing.ReplaceAllString(s, "$1 issue $2")
	return strings.ReplaceAll(brackets.Replace(s), brackets.Replace(redacted), redacted)
}

// nothingChanged is the error for a session that changed nothing. It says whether the session must go on, or
// whether its work ends because everything open is disputed or left to a person.
func (b brief) nothingChanged(r report) error {
	outstanding := b.ledger.Outstanding()
	disputes, people := r.of(disputed), r.of(person)
	err := ErrNothingChanged
	if left := len(disputes) + len(people); left > 0 && left == len(outstanding)+len(b.failed) && len(b.conflicts) == 0 {
		err = ErrNeedsPerson
		if b.disputable(disputes) {
			err = ErrDisputed
		}
	}
	for _, e := range outstanding {
		if evidence, ok := disputes[e.ID]; ok {
			err = fmt.Errorf("%w; it disputes %s: %s", err, e.ID, evidence)
		}
		if what, ok := people[e.ID]; ok {
			err = fmt.Errorf("%w; %s%s%s", err, e.ID, needsPerson, what)
		}
	}
	for n, f := range b.failed {
		if what, ok := people[checkID(n)]; ok {
			err = fmt.Errorf("%w; the check %q%s%s", err, f.Name, needsPerson, what)
		}
	}
	return err
}

const needsPerson = " needs a person: "

// LeftToPerson reads from the error text of a fix what the session left to a person. It is "" unless exactly
// one finding or check is in that text.
func LeftToPerson(ended string) string {
	before, todo, ok := strings.Cut(ended, needsPerson)
	if !ok || strings.Count(before, "; ") != 1 || strings.Contains(todo, needsPerson) {
		return ""
	}
	return todo
}

// FailsOnBase reads from the error text of a fix whether verify also failed on the base.
func FailsOnBase(ended string) bool { return strings.Contains(ended, ErrFailsOnBase.Error()) }

// disputable reports whether one of these disputes is the first about its finding, so that the reviewer has
// not judged an objection to it yet.
func (b brief) disputable(disputes map[string]string) bool {
	return slices.ContainsFunc(b.ledger.Outstanding(), func(e verdict.Entry) bool {
		_, ok := disputes[e.ID]
		return ok && e.Said == nil
	})
}

// message is the commit message, in the session's words: what it changed, and which findings it fixes,
// disputes or leaves to a person. The next rounds read its trailers.
func (b brief) message(answer string, r report, fix verdict.Repair) string {
	var m strings.Builder
	reviewed := b.head[:min(7, len(b.head))]
	outstanding := b.ledger.Outstanding()
	subject := r.subject
	switch {
	case subject != "":
	case b.review != "" || len(outstanding) > 0:
		subject = "Apply review of " + reviewed
	case len(b.failed) > 0:
		subject = "Repair what the checks of " + reviewed + " found"
	default:
		subject = "Resolve conflicts with the base"
	}
	m.WriteString(subject + "\n\n")
	fix.Reviewed = b.head
	for _, e := range outstanding {
		switch w := r.words[e.ID]; w.form {
		case repaired:
			fix.Findings = append(fix.Findings, e.ID)
			m.WriteString("- " + w.text + "\n")
		case disputed:
			fix.Disputed = append(fix.Disputed, e.ID+" "+w.text)
		case person:
			fix.Person = append(fix.Person, e.ID+" "+w.text)
		}
	}
	told := len(fix.Findings) > 0
	for n, f := range b.failed {
		if w := r.words[checkID(n)]; w.form == repaired {
			told = true
			m.WriteString("- " + verdict.Clip(line(f.Name), maxSubject) + ": " + w.text + "\n")
		}
	}
	if told {
		m.WriteString("\n")
	}
	m.WriteString(fix.Signed(b.signer).Trailers())
	m.WriteString(recurrence(answer))
	return m.String()
}

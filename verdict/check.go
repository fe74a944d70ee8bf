package verdict

import (
	"fmt"
	"slices"
	"strings"
)

// Checked is what came of having another session refute a finding.
type Checked string

// The outcomes. A finding stands in all of them but Overruled.
const (
	// Upheld is a finding that the other session could not refute.
	Upheld Checked = "upheld"
	// Overruled is one that it refuted by code that is there.
	Overruled Checked = "refuted"
	// Lowered is one that it holds to be true, and too small to hold the merge, by code that shows
	// how far it reaches: it stands as a nit.
	Lowered Checked = "lowered"
	// Unfinished is one of which it gave no word that counts.
	Unfinished Checked = "unfinished"
)

// Check is the word of a session that was to refute a finding.
type Check struct {
	Outcome Checked `json:"outcome"`
	Reason  string  `json:"reason"`
	// Path and Quote are the code that refutes or lowers the finding, Line is the last of its
	// lines and Start the first.
	Path  string `json:"path"`
	Quote string `json:"quote"`
	Start int    `json:"-"`
	Line  int    `json:"-"`
}

// leastProof is the number of letters and digits that what is not upheld quotes at the least.
const leastProof = 8

// CheckMarker is the last line of such a session's answer.
func CheckMarker(outcome Checked) string {
	return "<!-- CHECK:" + strings.ToUpper(string(outcome)) + " -->"
}

// JudgeCheck derives from a whole answer what it says. It fails closed: a finding is overruled or
// lowered only where the answer ends in this run's nonce and the marker, says so in its data as well,
// gives a reason, and quotes code that is there at the head. The error, a sentence part, says why
// an answer counts for nothing.
func JudgeCheck(text, nonce string, g Grounds) (Check, error) {
	fail := func(format string, args ...any) (Check, error) {
		return Check{Outcome: Unfinished}, fmt.Errorf(format, args...)
	}
	body, marked := ending(strings.ReplaceAll(text, "\r\n", "\n"), nonce, CheckMarker(Upheld), CheckMarker(Overruled), CheckMarker(Lowered))
	if marked == "" {
		return fail("its answer does not end in this run's nonce and a marker")
	}
	var c Check
	if _, err := readBlock(body, &c); err != nil {
		return fail("%w", err)
	}
	if marked != CheckMarker(c.Outcome) {
		return fail("its data and its marker disagree")
	}
	if c.Outcome == Upheld {
		return c, nil
	}
	if strings.TrimSpace(c.Reason) == "" {
		return fail("it gives no reason")
	}
	s := g.sources()
	c.Path = s.path(c.Path)
	file, err := look(s.head, c.Path, s.File)
	if err != nil {
		return fail("%q could not be read to check what it quotes (%s)", Clip(c.Path, maxDoubt), Clip(err.Error(), maxDoubt))
	}
	ok := false
	if c.Start, c.Line, ok = file.find(c.Quote, 0, 0); !ok || weight(c.Quote) < leastProof {
		return fail("it quotes no code that is there")
	}
	return c, nil
}

// Weigh notes what a check came to: a finding that is overruled is no more among those of the
// answer, one that is lowered is a nit, and where it was all that spoke against an approval,
// there is one.
func (j *Judgement) Weigh(id string, c Check) {
	i := slices.IndexFunc(j.Answer.Findings, func(f Finding) bool { return f.ID == id })
	if i < 0 {
		return
	}
	findings := slices.Clone(j.Answer.Findings)
	findings[i].Check = c.Outcome
	switch c.Outcome {
	case Overruled:
		j.Overruled = append(j.Overruled, Overruling{findings[i], c})
		findings = slices.Delete(findings, i, i+1)
	case Lowered:
		findings[i].From, findings[i].Reach = findings[i].Severity, c.Reason
		findings[i].Severity = Nit
	}
	j.Answer.Findings = findings
	if (c.Outcome == Overruled || c.Outcome == Lowered) && j.settled() && !slices.ContainsFunc(findings, Finding.Blocks) {
		j.Verdict = Approve
	}
}

// Overruling is a finding that was refuted, and by what.
type Overruling struct {
	Finding Finding
	Check   Check
}

// refute is the ledger with what was refuted in a round. The receiver is left as it is.
func (l Ledger) refute(round int, overruled []Overruling) Ledger {
	if len(overruled) == 0 {
		return l
	}
	var findings []Finding
	for _, o := range overruled {
		findings = append(findings, o.Finding)
	}
	next := l.enter(round, findings)
	for _, o := range overruled {
		e := next.byID(o.Finding.ID)
		if was := l.byID(e.ID); was != nil {
			e.Disputes, e.Returns = was.Disputes, was.Returns
		}
		e.Status, e.Check, e.Refutation = Refuted, Overruled, Clip(squeeze(o.Check.Reason), MaxReason)
	}
	return next
}

// SameModel says which of three are the same model, as a clause; empty where none are, as far as
// is known. An empty name matches no model.
func SameModel(writer, reviewer, checker string) string {
	same := func(a, b string) bool { return a != "" && a == b }
	switch {
	case same(writer, reviewer) && same(reviewer, checker):
		return "writer, reviewer and checker are the same model"
	case same(writer, reviewer):
		return "writer and reviewer are the same model"
	case same(reviewer, checker):
		return "reviewer and checker are the same model"
	case same(writer, checker):
		return "writer and checker are the same model"
	}
	return ""
}

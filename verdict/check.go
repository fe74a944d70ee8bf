package verdict

import (
	"fmt"
	"slices"
	"strings"
)

// Checked is the result of asking another session to refute a finding.
type Checked string

// The results. A finding stands in all of them but Overruled.
const (
	// Upheld: the other session could not refute the finding.
	Upheld Checked = "upheld"
	// Overruled: the session refuted it and quoted existing code as proof.
	Overruled Checked = "refuted"
	// Lowered: the session agrees with the finding, but quotes code that shows that it is too small to block
	// the merge. The finding stands as a nit.
	Lowered Checked = "lowered"
	// Unfinished: the session gave no valid answer.
	Unfinished Checked = "unfinished"
)

// Check is the answer of a session that was asked to refute a finding.
type Check struct {
	Outcome Checked `json:"outcome"`
	Reason  string  `json:"reason"`
	// Path and Quote are the code that refutes or lowers the finding. Start and Line are its first and last
	// line.
	Path  string `json:"path"`
	Quote string `json:"quote"`
	Start int    `json:"-"`
	Line  int    `json:"-"`
}

// leastProof is how many letters and digits the quote must have at least to refute or lower a finding.
const leastProof = 8

// CheckMarker is the last line of that session's answer.
func CheckMarker(outcome Checked) string {
	return "<!-- CHECK:" + strings.ToUpper(string(outcome)) + " -->"
}

// JudgeCheck reads a whole answer. It fails closed: it overrules or lowers a finding only if the answer ends
// in this run's nonce and the marker, its data says the same, it gives a reason, and it quotes code that
// exists at the head. The error, a sentence fragment, says why an answer does not count.
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
	if c.Start, c.Line, ok = file.find(c.Quote, 0, 0); !ok || Weight(c.Quote) < leastProof {
		return fail("it quotes no code that is there")
	}
	return c, nil
}

// Weigh applies the result of a check. An overruled finding leaves the answer's findings, a lowered one
// becomes a nit. If nothing else stands against an approval, doubts that were pending included, the verdict becomes
// Approve.
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
	if c.Outcome != Overruled && c.Outcome != Lowered || slices.ContainsFunc(findings, Finding.Blocks) {
		return
	}
	j.Doubts, j.Pending = append(j.Doubts, j.Pending...), nil
	if j.settled() {
		j.Verdict = Approve
	}
}

// Overruling is a refuted finding and the check that refuted it.
type Overruling struct {
	Finding Finding
	Check   Check
}

// refute is the ledger with the findings that were refuted in a round. It does not change the receiver.
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
		e := next.ByID(o.Finding.ID)
		if was := l.ByID(e.ID); was != nil {
			e.Disputes, e.Returns = was.Disputes, was.Returns
		}
		e.Status, e.Check, e.Refutation = Refuted, Overruled, Clip(OneLine(o.Check.Reason), MaxReason)
	}
	return next
}

// SameModel says, as a clause, which of the three are the same model, as far as is known. It is empty if none
// are. An empty name matches no model.
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

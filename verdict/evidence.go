package verdict

import (
	"fmt"
	"slices"
	"strings"
)

// Evidence is what code suspects of a change without being certain. The session has to
// answer each piece: by a finding, or by the reason why it is nothing.
type Evidence struct {
	// ID is by what an answer names it, such as "E1"; it counts within one review.
	ID string `json:"id"`
	// Kind is its family, such as "assertion", and Rule the guideline row behind it.
	Kind string `json:"kind"`
	Rule string `json:"rule,omitempty"`
	// Path and Line say where: "" and 0 for the change as a whole or the whole file. More
	// counts further places of the same.
	Path string `json:"path,omitempty"`
	Line int    `json:"line,omitempty"`
	More int    `json:"more,omitempty"`
	// Detail is a sentence. It can quote the change, so it needs [Prose] where it is shown.
	Detail string `json:"detail"`
	// Finding is the id of the finding that it became, Refuted the session's reason why it
	// is nothing. With neither of them it is unreviewed.
	Finding string `json:"finding,omitempty"`
	Refuted string `json:"refuted,omitempty"`
}

// Refutation is a session's answer to evidence that is nothing.
type Refutation struct {
	// Evidence is the id of the evidence.
	Evidence string `json:"evidence"`
	Reason   string `json:"reason"`
}

// Answered reports whether the session said what the evidence is.
func (e Evidence) Answered() bool { return e.Finding != "" || e.Refuted != "" }

// same reports whether two reviews saw the same evidence, of which a record keeps a part.
func (e Evidence) same(other Evidence) bool {
	return e.Kind == other.Kind && Clip(e.Path, maxRule) == Clip(other.Path, maxRule) &&
		Clip(e.Detail, MaxReason) == Clip(other.Detail, MaxReason) && e.More == other.More
}

// Answers reports whether all of a change's evidence was answered in an earlier review.
func (r Record) Answers(evidence []Evidence) bool {
	return !slices.ContainsFunc(evidence, func(e Evidence) bool {
		return !slices.ContainsFunc(r.Evidence, func(was Evidence) bool { return was.same(e) && was.Answered() })
	})
}

// weigh notes what the answer says to each piece of evidence that it had to answer. A
// finding that does not hold answers nothing.
func (j *Judgement) weigh(asked []Evidence) {
	var silent []string
	for _, e := range asked {
		for _, f := range j.Answer.Findings {
			if slices.Contains(f.Evidence, e.ID) {
				e.Finding = f.ID
			}
		}
		for _, m := range j.Merged {
			if slices.Contains(m.Finding.Evidence, e.ID) {
				e.Finding = m.Into
			}
		}
		for _, r := range j.Answer.Refuted {
			if r.Evidence == e.ID && e.Finding == "" {
				e.Refuted = Clip(strings.TrimSpace(r.Reason), maxDoubt)
			}
		}
		if !e.Answered() {
			silent = append(silent, e.ID)
		}
		j.Evidence = append(j.Evidence, e)
	}
	if n := len(silent); n > 0 {
		j.miss(fmt.Sprintf("The session did not answer %s of what code suspects, so it is unreviewed: %s.",
			Amount(n, "piece", "pieces"), Clip(strings.Join(silent, ", "), maxDoubt)))
	}
}

// joined is the evidence of several answers, each piece once: what one of them answered is
// answered.
func joined(all, more []Evidence) []Evidence {
	for _, e := range more {
		i := slices.IndexFunc(all, func(was Evidence) bool { return was.ID == e.ID })
		switch {
		case i < 0:
			all = append(all, e)
		case e.Answered() && all[i].Finding == "":
			all[i] = e
		}
	}
	return all
}

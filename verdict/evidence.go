package verdict

import (
	"fmt"
	"slices"
	"strings"
)

// Evidence is something that code suspects of a change without being certain. The session must answer each
// piece: with a finding, or with the reason why it is no problem.
type Evidence struct {
	// ID is how an answer refers to it, such as "E1". It is valid within one review.
	ID string `json:"id"`
	// Kind is its family, such as "assertion". Rule is the guideline row behind it.
	Kind string `json:"kind"`
	Rule string `json:"rule,omitempty"`
	// Path and Line say where: "" for the change as a whole, 0 for the whole file. More counts further places
	// of the same kind.
	Path string `json:"path,omitempty"`
	Line int    `json:"line,omitempty"`
	More int    `json:"more,omitempty"`
	// Detail is a sentence. It can quote the change, so it needs [Prose] wherever it is shown.
	Detail string `json:"detail"`
	// Finding is the id of the finding that it became. Refuted is the session's reason why it is no problem.
	// If both are empty, the evidence is unreviewed.
	Finding string `json:"finding,omitempty"`
	Refuted string `json:"refuted,omitempty"`
}

// Refutation is a session's answer that a piece of evidence is no problem.
type Refutation struct {
	// Evidence is the id of the evidence.
	Evidence string `json:"evidence"`
	Reason   string `json:"reason"`
}

// Answered reports whether the session answered the evidence.
func (e Evidence) Answered() bool { return e.Finding != "" || e.Refuted != "" }

// same reports whether two reviews saw the same evidence. It compares clipped fields, since a record keeps
// only a part of them.
func (e Evidence) same(other Evidence) bool {
	return e.Kind == other.Kind && Clip(e.Path, maxRule) == Clip(other.Path, maxRule) &&
		Clip(e.Detail, MaxReason) == Clip(other.Detail, MaxReason) && e.More == other.More
}

// Answers reports whether this review answered all of a change's evidence.
func (r Record) Answers(evidence []Evidence) bool {
	return !slices.ContainsFunc(evidence, func(e Evidence) bool {
		return !slices.ContainsFunc(r.Evidence, func(was Evidence) bool { return was.same(e) && was.Answered() })
	})
}

// weigh notes the answer to each piece of evidence. A finding that was dropped answers nothing.
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

// joined merges the evidence of several answers. A piece that one of them answered is answered.
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

package verdict

import "time"

// Hold is a reason, found by code and not by a model, why only a person may let a head pass.
type Hold struct {
	Kind HoldKind `json:"kind"`
	// Rule is the guideline row behind it, if any.
	Rule string `json:"rule,omitempty"`
	// Path and Line say where: "" for the change as a whole, 0 for the whole file.
	Path string `json:"path,omitempty"`
	Line int    `json:"line,omitempty"`
	// Detail is a sentence for the person who decides. It can quote the change, so it needs [Prose] wherever
	// it is shown.
	Detail string `json:"detail,omitempty"`
}

// HoldKind is the family of a hold.
type HoldKind string

// The kinds of holds.
const (
	// QualityBar: the change makes a check easier to pass.
	QualityBar HoldKind = "quality-bar"
	// HiddenText: the change or its description holds text that readers do not see.
	HiddenText HoldKind = "hidden-text"
	// Manipulation: the change or its description tries to steer its reviewer.
	Manipulation HoldKind = "manipulation"
)

// Word is a person's statement that a head may pass as it is.
type Word struct {
	// By is the person's login.
	By string `json:"by"`
	// At is when it was said.
	At time.Time `json:"at"`
	// Why is the person's own reason, if one was given.
	Why string `json:"why,omitempty"`
	// BrokeGlass says that the person gave the break-glass order, which also passes over findings. An
	// approval only lifts holds.
	BrokeGlass bool `json:"glass,omitempty"`
}

// Same reports whether both are the same word, or both are nil.
func (w *Word) Same(other *Word) bool {
	if w == nil || other == nil {
		return w == other
	}
	return w.By == other.By && w.At.Equal(other.At)
}

// Hold makes the judgement wait for a person, even if the session approved.
func (j *Judgement) Hold(holds ...Hold) {
	if len(holds) > 0 {
		j.Verdict = RequestChanges
		j.Holds = append(j.Holds, holds...)
	}
}

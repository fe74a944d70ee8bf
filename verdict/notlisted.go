package verdict

import "slices"

// NotListed is a finding that a session reported and its review does not list.
type NotListed struct {
	Severity Severity `json:"severity,omitempty"`
	Rule     string   `json:"rule"`
	Path     string   `json:"path"`
	Line     int      `json:"line"`
	Claim    string   `json:"claim"`
	// Reason is a sentence fragment: why it was dropped, or how the other finding covers it. It and the claim
	// can quote the answer, so they need [Prose] wherever they are shown.
	Reason string `json:"reason"`
	// Into is the id of what covers it: a finding, an entry of the ledger or a piece of evidence. It is empty if
	// the finding was dropped.
	Into string `json:"into,omitempty"`
}

// NotListed are the findings that were merged, then those that were dropped.
func (j Judgement) NotListed() (all []NotListed) {
	for _, m := range j.Merged {
		all = append(all, AsNotListed(m.Finding, m.Reason, m.Into))
	}
	for _, d := range j.Dropped {
		all = append(all, AsNotListed(d.Finding, d.Reason, ""))
	}
	return all
}

// AsNotListed is a finding with the reason why it is not listed, and what covers it.
func AsNotListed(f Finding, reason, into string) NotListed {
	return NotListed{Severity: f.Severity, Rule: f.Rule, Path: f.Path, Line: f.Line, Claim: f.Claim, Reason: reason, Into: into}
}

// Inherit adds the findings that another answer, which this one replaces, reported and did not keep. They do not change
// the verdict, but they are not lost with that answer. One that this answer reports too counts as merged.
func (j *Judgement) Inherit(from Judgement) {
	own := j.Merged
	for _, m := range from.Merged {
		if !slices.ContainsFunc(j.Merged, func(n Merged) bool { return n.Into == m.Into && n.Finding.says(m.Finding) }) {
			j.Merged = append(j.Merged, m)
		}
	}
	for _, d := range from.Dropped {
		again := slices.IndexFunc(j.Answer.Findings, func(f Finding) bool {
			return f.Kept == "" && (f.says(d.Finding) || f.Rule == d.Finding.Rule && f.sharesFile(d.Finding))
		})
		covered := slices.IndexFunc(own, func(m Merged) bool { return m.Finding.says(d.Finding) })
		switch {
		case again >= 0:
			j.mergeDropped(d, j.Answer.Findings[again].ID)
		case covered >= 0:
			j.mergeDropped(d, own[covered].Into)
		case !slices.ContainsFunc(j.Dropped, func(own Dropped) bool { return own.Finding.says(d.Finding) }):
			d.Reason += "; the final answer does not report it"
			d.Superseded = true
			j.Dropped = append(j.Dropped, d)
		}
	}
}

// mergeDropped enters a finding that a replaced answer's check dropped, and that this answer has under an id.
func (j *Judgement) mergeDropped(d Dropped, id string) {
	j.Merged = append(j.Merged, Merged{d.Finding, id, "dropped, because " + d.Reason + "; the final answer reports it as " + id})
}

// sharesFile reports whether two findings are about the same file, or the same text of the pull request.
func (f Finding) sharesFile(g Finding) bool { return f.Path == g.Path && f.Text == g.Text }

// says reports whether two findings make the same claim about the same file or text.
func (f Finding) says(g Finding) bool {
	return f.sharesFile(g) && OneLine(f.Claim) == OneLine(g.Claim)
}

// bounded is the form of a record: the worst first, since a long record loses the last ones, and with bounded
// texts, since a dropped finding can say anything.
func bounded(all []NotListed) []NotListed {
	slices.SortStableFunc(all, func(a, b NotListed) int { return a.Severity.Rank() - b.Severity.Rank() })
	for i := range all {
		n := &all[i]
		n.Rule, n.Path = Clip(OneLine(n.Rule), maxRule), Clip(n.Path, maxRule)
		n.Claim, n.Reason = Clip(OneLine(n.Claim), maxClaim), Clip(OneLine(n.Reason), MaxReason)
	}
	return all
}

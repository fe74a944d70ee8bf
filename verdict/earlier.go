package verdict

import "strings"

// Gone is a session's word that a finding of an earlier round is no more.
type Gone struct {
	// ID is the finding's in the ledger.
	ID string `json:"id"`
	// How says by what that can be seen.
	How string `json:"how"`
	// Path and Quote are the code that settles it, where that is in another file than
	// the finding's own.
	Path  string `json:"path,omitempty"`
	Quote string `json:"quote,omitempty"`
}

// keep has the earlier findings stand that are due, of which no code shows that they
// are gone and which the answer neither finds again nor says, believably, to be gone.
func (j *Judgement) keep(s sources) (kept int) {
	found := map[string]bool{}
	for _, f := range j.Answer.Findings {
		found[f.ID] = true
	}
	gone := map[string]Gone{}
	for _, g := range j.Answer.Gone {
		gone[strings.TrimSpace(g.ID)] = g
	}
	for _, e := range s.Due {
		path, from, to, there := s.still(e)
		if !there || !e.Blocks() || found[e.ID] {
			continue
		}
		reason := s.disbelieve(e, gone[e.ID], to > 0)
		if reason == "" {
			continue
		}
		f := Finding{ID: e.ID, Dimension: e.Dimension, Severity: e.Severity, Rule: e.Rule, Path: path, Line: to,
			Quote: e.Code, Claim: e.Claim, Late: e.Late, Kept: reason}
		if from < to {
			f.StartLine = from
		}
		j.Answer.Findings = append(j.Answer.Findings, f)
		kept++
	}
	return kept
}

// still looks for the code of an earlier finding at the head: in its own file, or
// where that is gone in those that had to be examined, since it may be one of them
// by another name. What cannot be read is not known to be gone, and neither is what
// quoted no code. A finding with a quote and no line is about code that was taken
// away, and stands while it is.
func (s sources) still(e Entry) (path string, from, to int, there bool) {
	code := strings.TrimSuffix(e.Code, "…")
	if weight(code) < shortQuote {
		return e.Path, 0, 0, true
	}
	own, err := look(s.head, e.Path, s.File)
	if err != nil {
		return e.Path, 0, 0, true
	}
	from, to, there = own.find(code, 0, e.Line)
	switch {
	case e.Line == 0:
		return e.Path, 0, 0, !there
	case there || own != nil || len(code) < minCode:
		return e.Path, from, to, there
	}
	for _, path := range s.Changed {
		// A file that cannot be read is doubted when something is found in it.
		file, _ := look(s.head, path, s.File)
		if from, to, there = file.find(code, 0, e.Line); there {
			return path, from, to, true
		}
	}
	return "", 0, 0, false
}

// disbelieve says why an earlier finding stands, whose code is there or of which no code
// shows that it is gone, as a sentence part, or "". What was disputed takes no more than the session's word;
// what was fixed, that something changed: the finding's own file, or the one that is
// quoted for it.
func (s sources) disbelieve(e Entry, g Gone, there bool) string {
	switch {
	case strings.TrimSpace(g.How) == "" && there:
		return "its code still stands there, and the session does not say what became of it"
	case strings.TrimSpace(g.How) == "":
		return "no code shows that it is gone, and the session does not say what became of it"
	case e.Status == Disputed || s.touched(e.Last, e.Path):
		return ""
	case weight(g.Quote) < shortQuote:
		return "the session says that it is gone, but its file is as it was, and no other code is quoted that settles it"
	}
	path := s.path(g.Path)
	file, err := look(s.head, path, s.File)
	if _, _, there := file.find(g.Quote, 0, 0); err != nil || !there {
		return "the session says that it is gone, but the code that it quotes for that is not there"
	}
	if !s.touched(e.Last, path) {
		return "the session says that it is gone, but nothing changed in the files that it names for that"
	}
	return ""
}

func (s sources) touched(round int, path string) bool {
	return s.Touched == nil || s.Touched(round, path)
}

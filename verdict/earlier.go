package verdict

import (
	"maps"
	"slices"
	"strings"
)

// Gone is a session's word that a finding of an earlier round is no more.
type Gone struct {
	// ID is the finding's in the ledger.
	ID string `json:"id"`
	// How says by what that can be seen.
	How string `json:"how"`
	// Path and Quote are what settles it, where that is not in the finding's own file: code
	// of another file, a file that was deleted, or one of the Grounds' texts by its name.
	Path  string `json:"path,omitempty"`
	Quote string `json:"quote,omitempty"`
}

// keep has the earlier findings stand that are due, that the answer does not find again and
// that it does not say, believably, to be gone. Silence closes nothing that blocks, even if its code
// is gone: half a repair changes the code too.
func (j *Judgement) keep(s sources) (kept int) {
	found := map[string]bool{}
	for _, f := range j.Answer.Findings {
		found[f.ID] = true
	}
	gone := j.Answer.gone()
	for _, e := range s.Due {
		if !e.Blocks() || found[e.ID] {
			continue
		}
		path, from, to, there := s.still(e)
		reason := s.disbelieve(e, gone[e.ID], there, to)
		if reason == "" {
			continue
		}
		f := Finding{ID: e.ID, Dimension: e.Dimension, Severity: e.Severity, Rule: e.Rule, Path: path, Line: to,
			Quote: e.Code, Claim: e.Claim, Text: e.Text, Late: e.Late, Kept: reason}
		if from < to {
			f.StartLine = from
		}
		j.Answer.Findings = append(j.Answer.Findings, f)
		kept++
	}
	return kept
}

// gone is what the answer says of earlier findings that are no more, by id.
func (a Answer) gone() map[string]Gone {
	all := map[string]Gone{}
	for _, g := range a.Gone {
		if strings.TrimSpace(g.How) != "" {
			all[strings.TrimSpace(g.ID)] = g
		}
	}
	return all
}

// still looks for the code of an earlier finding at the head: in its own file, or
// where that is gone in those that had to be examined, since it may be one of them
// by another name. What cannot be read is not known to be gone, and neither is what
// quoted no code. A finding with a quote and no line is about code that was taken
// away, and stands while it is; one without a file quotes what the pull request says of
// itself.
func (s sources) still(e Entry) (path string, from, to int, there bool) {
	code := strings.TrimSuffix(e.Code, clipped)
	if weight(code) < shortQuote {
		return e.Path, 0, 0, true
	}
	if e.Path == "" {
		return "", 0, 0, s.says(code) != ""
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
	return e.Path, 0, 0, false
}

// disbelieve says why an earlier finding stands, as a sentence part, or "". Its code may be
// there, on a line where that is not 0. What was disputed takes no more than the session's word;
// what was fixed, that something changed: the finding's own file, or what is named for it.
func (s sources) disbelieve(e Entry, g Gone, there bool, line int) string {
	const silent = ", and the session does not say what became of it"
	switch {
	case g.How == "" && !there:
		return "its code changed" + silent
	case g.How == "" && there && line > 0 && strings.HasSuffix(e.Code, clipped):
		return "the beginning of its code still stands there" + silent
	case g.How == "" && there && line > 0:
		return "its code still stands there" + silent
	case g.How == "" && there:
		return "no code shows that it is gone" + silent
	case !there, e.Status == Disputed, s.touched(e.Last, e.Path):
		return ""
	}
	return s.unsettled(e, g)
}

// unsettled says why a finding in a file that is as it was is not settled by what the session
// names for that, as a sentence part, or "".
func (s sources) unsettled(e Entry, g Gone) string {
	const word = "the session says that it is gone, but "
	const absent, same = "what it quotes for that is not there", "nothing changed in what it names for that"
	if text, ok := s.text(g.Path); ok {
		_, _, there := newSource(text).find(g.Quote, 0, 0)
		switch {
		case g.Quote != "" && !there:
			return word + absent
		case s.Restated != nil && !s.Restated(e.Last, textName(g.Path)):
			return word + same
		}
		return ""
	}
	path := s.path(g.Path)
	file, err := look(s.head, path, s.File)
	_, _, there := file.find(g.Quote, 0, 0)
	deleted := path != "" && err == nil && file == nil && weight(g.Quote) == 0
	switch {
	case weight(g.Quote) < shortQuote && !deleted:
		return word + "its file is as it was, and nothing else is quoted that settles it"
	case !there && !deleted:
		return word + absent
	case !s.touched(e.Last, path):
		return word + same
	}
	return ""
}

func (s sources) touched(round int, path string) bool {
	return s.Touched == nil || s.Touched(round, path)
}

// The names of what a pull request says of itself, as findings and words on them give them in
// the place of a path.
const (
	TitleText       = "title"
	DescriptionText = "description"
	MessagesText    = "commit messages"
)

func textName(path string) string { return strings.ToLower(strings.TrimSpace(path)) }

// text is the text that a session named in the place of a file; ok is false for a file.
func (s sources) text(path string) (text string, ok bool) {
	if slices.Contains(s.Changed, path) {
		return "", false
	}
	text, ok = s.Texts[textName(path)]
	return text, ok
}

// says is the name of the text in which the pull request says of itself what is quoted; "" for none.
func (s sources) says(quote string) string {
	for _, name := range slices.Sorted(maps.Keys(s.Texts)) {
		if _, _, there := newSource(s.Texts[name]).find(quote, 0, 0); there {
			return name
		}
	}
	return ""
}

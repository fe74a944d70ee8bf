package verdict

import (
	"maps"
	"slices"
	"strings"
)

// Gone is a session's statement that a finding of an earlier round is gone.
type Gone struct {
	// ID is the finding's id in the ledger.
	ID string `json:"id"`
	// How says how one can see that it is gone.
	How string `json:"how"`
	// Path and Quote show what settled the finding, if that is outside the finding's own file: code of
	// another file, a deleted file, or one of the Grounds' texts by its name.
	Path  string `json:"path,omitempty"`
	Quote string `json:"quote,omitempty"`
}

// keep lets an earlier finding that is due stand, unless the answer finds it again or credibly says that it
// is gone. Silence never closes a finding that blocks, even if its code is gone: a partial fix changes the
// code too.
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

// gone maps the ids of earlier findings to what the answer says about their end.
func (a Answer) gone() map[string]Gone {
	all := map[string]Gone{}
	for _, g := range a.Gone {
		if strings.TrimSpace(g.How) != "" {
			all[strings.TrimSpace(g.ID)] = g
		}
	}
	return all
}

// still looks for the code of an earlier finding at the head: in its own file or, if that file is gone, in
// the changed files, since one of them may be the same file under a new name. If the file cannot be read, or
// the finding quoted no code, the code counts as still there. A finding with a quote but no line is about
// deleted code, and stands while that code is missing. A finding without a path quotes the pull request's own
// texts.
func (s sources) still(e Entry) (path string, from, to int, there bool) {
	code := strings.TrimSuffix(e.Code, clipped)
	if Weight(code) < shortQuote {
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
		// Judge raises a doubt about an unreadable file only when a finding is about it.
		file, _ := look(s.head, path, s.File)
		if from, to, there = file.find(code, 0, e.Line); there {
			return path, from, to, true
		}
	}
	return e.Path, 0, 0, false
}

// disbelieve says why an earlier finding stands, as a sentence fragment, or "". Argument there says whether
// its code is still there; line is where, or 0. To close a disputed finding the session's word is enough. To
// close a fixed one, something must have changed: the finding's own file, or what the session names.
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

// unsettled handles a finding whose own file did not change. It says, as a sentence fragment, why what the
// session names does not settle the finding, or "".
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
	deleted := path != "" && err == nil && file == nil && Weight(g.Quote) == 0
	switch {
	case Weight(g.Quote) < shortQuote && !deleted:
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

// The names of the pull request's own texts. Findings and answers use them in place of a path.
const (
	TitleText       = "title"
	DescriptionText = "description"
	MessagesText    = "commit messages"
)

func textName(path string) string { return strings.ToLower(strings.TrimSpace(path)) }

// text is the text that a session named in place of a file. Result ok is false for a file.
func (s sources) text(path string) (text string, ok bool) {
	if slices.Contains(s.Changed, path) {
		return "", false
	}
	text, ok = s.Texts[textName(path)]
	return text, ok
}

// says is the name of the pull request's own text that contains a quote, or "".
func (s sources) says(quote string) string {
	for _, name := range slices.Sorted(maps.Keys(s.Texts)) {
		if _, _, there := newSource(s.Texts[name]).find(quote, 0, 0); there {
			return name
		}
	}
	return ""
}

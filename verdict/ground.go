package verdict

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode"
)

// shortQuote is a number of letters and digits. A shorter quote proves only the lines that the finding itself
// names.
const shortQuote = 3

// ground keeps the findings that hold and drops the others. Each must cite a row that applies and, unless it
// is about the change or a file as a whole, quote code that exists. Its lines are corrected to those of the
// quote.
func (j *Judgement) ground(s sources) {
	var kept []Finding
	for _, f := range j.Answer.Findings {
		if _, text := s.text(f.Path); text {
			f.Path, f.Text = "", textName(f.Path)
		}
		f.Path = s.path(f.Path)
		f.Rule = s.raise(&f)
		reason, err := s.refute(&f)
		if err != nil {
			j.doubt(fmt.Sprintf("%q could not be read to check a finding on it (%s).", Clip(f.Path, maxDoubt), Clip(err.Error(), maxDoubt)))
		}
		if reason != "" {
			j.drop(f, reason, s.Ledger)
			continue
		}
		if i := slices.IndexFunc(kept, f.repeats); i >= 0 {
			j.Merged = append(j.Merged, Merged{f, kept[i].ID, "it repeats " + kept[i].ID})
			kept[i].absorb(f)
			kept[i].Tolerated = s.tolerates(kept[i])
			continue
		}
		entry := s.Ledger.without(kept).same(f)
		switch {
		case entry == nil:
			f.ID = freshID(f, s.Ledger, kept)
			f.Late = s.Late != nil && s.Late(f)
		case entry.Status == Waived:
			j.Merged = append(j.Merged, Merged{f, entry.ID, "a person waived " + entry.ID})
			continue
		default:
			f.ID, f.Late = entry.ID, entry.Late
			f.atLeast(entry.Severity)
		}
		f.Tolerated = s.tolerates(f)
		kept = append(kept, f)
	}
	j.Answer.Findings = kept
}

// tolerates reports whether a late finding does not block.
func (s sources) tolerates(f Finding) bool { return f.Late && s.Ratchet && f.Severity == Minor }

// repeats reports whether the same answer already gave this finding: under the id of the same earlier
// finding, or under the same rule about the same code on the same lines. Findings about a whole file or
// change are compared by their claims.
func (f Finding) repeats(g Finding) bool {
	if f.Rule != g.Rule || f.Path != g.Path {
		return false
	}
	if f.ID != "" && f.ID == g.ID {
		return true
	}
	code, other := OneLine(f.Quote), OneLine(g.Quote)
	if code == "" || other == "" {
		return code == other && f.Line == g.Line && OneLine(f.Claim) == OneLine(g.Claim)
	}
	if !strings.Contains(code, other) && !strings.Contains(other, code) {
		return false
	}
	return f.Line == 0 && g.Line == 0 && OneLine(f.Claim) == OneLine(g.Claim) || overlap(f.first(), f.Line, g)
}

// absorb lets f stand for g as well, and adds g's claim.
func (f *Finding) absorb(g Finding) {
	f.atLeast(g.Severity)
	if OneLine(g.Claim) != OneLine(f.Claim) {
		f.Why = strings.TrimSpace(f.Why + "\n\nAlso: " + g.Claim)
	}
}

// freshID is the fingerprint of a finding that is in no ledger. If that id is taken, by the same rule, file
// and code elsewhere in the file, a number is hashed with them.
func freshID(f Finding, earlier Ledger, kept []Finding) string {
	id := Fingerprint(f)
	taken := func() bool {
		return earlier.ByID(id) != nil || slices.ContainsFunc(kept, func(k Finding) bool { return k.ID == id })
	}
	for n := 2; taken(); n++ {
		id = fingerprint(f, n)
	}
	return id
}

// drop records a finding that does not hold. It gets at least the severity of the earlier findings under that
// rule in that file, since it may have meant one of them.
func (j *Judgement) drop(f Finding, reason string, earlier Ledger) {
	for _, e := range earlier {
		if e.Stands() && e.Rule == f.Rule && e.Path == f.Path {
			f.atLeast(e.Severity)
		}
	}
	j.Dropped = append(j.Dropped, Dropped{Finding: f, Reason: reason})
}

// atLeast raises a finding's severity to s if it is milder.
func (f *Finding) atLeast(s Severity) {
	if f.Severity.Rank() > s.Rank() {
		f.Was, f.Severity = cmp.Or(f.Was, f.Severity), s
	}
}

// sources are the grounds and the files read so far.
type sources struct {
	Grounds
	head, before map[string]*source
}

func (g Grounds) sources() sources {
	return sources{Grounds: g, head: map[string]*source{}, before: map[string]*source{}}
}

// path is the repository path that a session meant.
func (s sources) path(given string) string {
	if slices.Contains(s.Changed, given) {
		return given
	}
	return cleanPath(given)
}

// raise gives the finding at least the severity of the row that it cites, and returns that row's id. If it
// cites several, the first one that applies counts.
func (s sources) raise(f *Finding) string {
	for _, word := range strings.FieldsFunc(f.Rule,
		func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",;()[]`\"'*|", r) }) {
		word = strings.Trim(word, ".:")
		for id, severity := range s.Rows {
			if strings.EqualFold(id, word) {
				f.atLeast(severity)
				return id
			}
		}
	}
	return strings.TrimSpace(f.Rule)
}

// refute says why a finding does not hold, as a sentence fragment, or "". It corrects the finding's lines to
// those of its quote. An error means that a file could not be read; the finding then counts.
func (s sources) refute(f *Finding) (reason string, err error) {
	if _, ok := s.Rows[f.Rule]; !ok {
		return fmt.Sprintf("it cites %q, which is no rule for this change", Clip(f.Rule, maxRule)), nil
	}
	proof := Weight(f.Quote)
	if f.Path == "" {
		f.StartLine, f.Line = 0, 0
		if proof > 0 && f.Text == "" {
			f.Text = s.says(f.Quote)
		}
		if proof > 0 && s.says(f.Quote) == "" {
			return "it names no file, and the pull request does not say what it quotes", nil
		}
		return "", nil
	}
	now, err := look(s.head, f.Path, s.File)
	if err != nil {
		return "", err
	}
	switch {
	case now == nil && !slices.Contains(s.Changed, f.Path):
		return "it names a file that is not there", nil
	case proof == 0 && f.Line > 0 && now != nil:
		return "it quotes no code", nil
	case proof > 0:
		if from, to, ok := now.find(f.Quote, f.StartLine, f.Line); ok && (proof >= shortQuote || overlap(from, to, *f)) && !s.removes(*f, now) {
			if !overlap(from, to, *f) {
				f.StartLine, f.Line = from, to
			}
			f.Line = min(f.Line, now.lines)
			return "", nil
		}
		// Deleted code can be quoted, but has no lines at the head.
		if gone, err := look(s.before, f.Path, s.Before); err != nil {
			return "", err
		} else if _, _, ok := gone.find(f.Quote, 0, 0); (!ok || proof < shortQuote) && (now != nil || gone != nil) {
			return "it quotes code that is not there", nil
		}
	}
	f.StartLine, f.Line = 0, 0
	return "", nil
}

// removes reports whether a finding without a line quotes code that the change deletes, although the same
// code also stands elsewhere in the file.
func (s sources) removes(f Finding, now *source) bool {
	before, err := look(s.before, f.Path, s.Before)
	return f.Line == 0 && err == nil && before.count(f.Quote) > now.count(f.Quote)
}

// overlap reports whether the range from–to and the finding's lines overlap.
func overlap(from, to int, f Finding) bool {
	return f.Line > 0 && from <= f.Line && f.first() <= to
}

// first is the first line of a finding, 0 for the whole file.
func (f Finding) first() int { return cmp.Or(f.StartLine, f.Line) }

// Weight counts the letters and digits of a quote.
func Weight(quote string) int {
	n := 0
	for _, r := range quote {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n++
		}
	}
	return n
}

// look returns a file prepared for searching, nil if there is none. It reads each file once.
func look(seen map[string]*source, path string, read func(string) ([]byte, error)) (*source, error) {
	if known, ok := seen[path]; ok || read == nil {
		return known, nil
	}
	data, err := read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		seen[path] = nil
	case err != nil:
		return nil, err
	default:
		seen[path] = newSource(string(data))
	}
	return seen[path], nil
}

// source is a file in which each run of white space is one space. A quote is so found whatever its
// indentation and line breaks.
type source struct {
	text  string
	lines int
	// starts are the offsets in text at which the lines begin that are not blank. numbers are their line
	// numbers.
	starts, numbers []int
}

func newSource(data string) *source {
	s := &source{}
	var text strings.Builder
	for line := range strings.Lines(data) {
		s.lines++
		words := OneLine(line)
		if words == "" {
			continue
		}
		if text.Len() > 0 {
			text.WriteByte(' ')
		}
		s.starts, s.numbers = append(s.starts, text.Len()), append(s.numbers, s.lines)
		text.WriteString(words)
	}
	s.text = text.String()
	return s
}

// find returns the lines of a quote. If it stands there more than once, the place nearest to the given lines
// counts. A quote from a patch may have its plus or minus signs.
func (s *source) find(quote string, start, line int) (from, to int, ok bool) {
	if s == nil {
		return 0, 0, false
	}
	if from, to, ok = s.nearest(OneLine(quote), max(start, line)); ok {
		return from, to, true
	}
	for _, sign := range []string{"+", "-"} {
		var bare strings.Builder
		for l := range strings.Lines(quote) {
			bare.WriteString(strings.TrimPrefix(strings.TrimSpace(l), sign) + "\n")
		}
		if from, to, ok = s.nearest(OneLine(bare.String()), max(start, line)); ok {
			return from, to, true
		}
	}
	return 0, 0, false
}

// count is how often the quote stands in the file.
func (s *source) count(quote string) int {
	if s == nil || OneLine(quote) == "" {
		return 0
	}
	return strings.Count(s.text, OneLine(quote))
}

// nearest takes time linear in the file: its author could have made it of one repeated letter.
func (s *source) nearest(quote string, line int) (from, to int, ok bool) {
	if quote == "" {
		return 0, 0, false
	}
	next, _ := slices.BinarySearch(s.numbers, line+1)
	split := len(s.text) // where the first line after the given one begins
	if next < len(s.starts) {
		split = s.starts[next]
	}
	below := strings.Index(s.text[split:], quote)
	if i := strings.LastIndex(s.text[:min(len(s.text), split+len(quote)-1)], quote); i >= 0 {
		row := s.row(i)
		at := s.starts[row] + strings.Index(s.text[s.starts[row]:], quote)
		from, to, ok = s.numbers[row], s.line(at+len(quote)-1), true
	}
	if below < 0 {
		return from, to, ok
	}
	if first := s.line(split + below); !ok || first-line < line-from {
		from, to, ok = first, s.line(split+below+len(quote)-1), true
	}
	return from, to, ok
}

// line is the number of the line at an offset of the text.
func (s *source) line(at int) int { return s.numbers[s.row(at)] }

// row is the index in starts of that line.
func (s *source) row(at int) int {
	i, found := slices.BinarySearch(s.starts, at)
	if !found {
		i--
	}
	return i
}

// OneLine replaces every run of white space with one space.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

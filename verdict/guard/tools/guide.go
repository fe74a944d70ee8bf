package tools

import (
	"cmp"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	table "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/doc"
)

func isGuide(name string) bool { return change.FitsAny(guides, name) }

// maxGuide bounds a document, in bytes.
const maxGuide = 512 << 10

var markdown = goldmark.New(goldmark.WithExtensions(extension.Table))

// sentences returns the sentences of a document's paragraphs, lists and tables. Line breaks do not matter.
func sentences(content []byte) []statement {
	if len(content) > maxGuide {
		return nil
	}
	var out []statement
	lineOf := doc.Lines(content)
	root := markdown.Parser().Parse(text.NewReader(content))
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering || n.Type() != ast.TypeBlock || n.Kind() == ast.KindHeading || n.Lines() == nil || n.Lines().Len() == 0 ||
			n.Kind() == table.KindTableCell {
			return ast.WalkContinue, nil
		}
		whole := strings.ReplaceAll(string(n.Lines().Value(content)), "?", "?.") // a question keeps its mark
		line, from := lineOf(n.Lines().At(0).Start), 0
		for _, end := range append(ending.FindAllStringIndex(whole, -1), []int{len(whole), len(whole)}) {
			if plain := strings.Join(strings.Fields(strings.Trim(whole[from:end[0]], "*_` \n")), " "); plain != "" {
				out = append(out, statement{plain, line})
			}
			line, from = line+strings.Count(whole[from:end[1]], "\n"), end[1]
		}
		return ast.WalkContinue, nil
	})
	return out
}

var (
	ending = regexp.MustCompile(`[.!](?:\s+|$)`)
	firm   = regexp.MustCompile(`(?i)\b(?:must|never|always|do not|don't|shall|forbidden|may not|required?|mandatory)\b`)
	// needs matches requirements for machines rather than people.
	needs = regexp.MustCompile(`(?i)required to (?:build|run|compile|install|use)\b`)
	word  = regexp.MustCompile(`[\pL\pN]+`)
)

// sentencesIn returns the sentences of all documents after the change: a sentence that moved is not gone.
func sentencesIn(files []change.File) map[string]bool {
	kept := map[string]bool{}
	for _, f := range files {
		if isGuide(f.Path) || path.Ext(f.Path) == ".md" {
			for _, s := range sentences(f.After) {
				kept[s.text] = true
			}
		}
	}
	return kept
}

// lostRules finds removed sentences that bound contributors. It holds only this product's own rules: of the sentences that
// other guides lost in real histories, most bound nobody, or moved.
func lostRules(f change.File, kept map[string]bool) []change.Finding {
	after := sentences(f.After)
	if f.Path != f.OldPath && !isGuide(f.Path) && !isOwn(f.Path) {
		after = nil
	}
	near := nearTo(after)
	var found []change.Finding
	for _, was := range sentences(f.Before) {
		if kept[was.text] || !firm.MatchString(was.text) || strings.HasSuffix(was.text, "?") || needs.MatchString(was.text) ||
			len(strings.Fields(was.text)) < 3 || strings.HasPrefix(was.text, "|") {
			continue
		}
		at, why := change.Place{Path: f.Name(), Line: was.line, Before: was.text}, "A rule for contributors is gone."
		tier := change.HoldIf(isOwn(f.Name()) || isOwn(f.OldPath))
		if other := near.nearest(was.text); other.text != "" {
			if firm.MatchString(other.text) {
				continue
			}
			at.Line, at.After, tier, why = other.line, other.text, change.Evidence,
				"A rule for contributors is put in other words, which bind less."
		}
		found = append(found, policy(tier, "rule", why, at))
	}
	if f.After == nil && len(found) > 1 {
		found = found[:1]
	}
	return found
}

// maxNear bounds how often the words of sentences are compared in one document. What is left then is not near to anything.
const maxNear = 20_000_000

// sentencesNear finds sentences by their words.
type sentencesNear struct {
	list   []statement
	having map[string][]int // the sentences that have a word
	left   int              // of maxNear
}

func nearTo(list []statement) *sentencesNear {
	s := &sentencesNear{list, map[string][]int{}, maxNear}
	for i, one := range list {
		words := word.FindAllString(strings.ToLower(one.text), -1)
		slices.Sort(words)
		for _, w := range slices.Compact(words) {
			s.having[w] = append(s.having[w], i)
		}
	}
	return s
}

// nearest is the sentence that shares the most words with another one, and more than half of them.
func (s *sentencesNear) nearest(sentence string) (best statement) {
	words := word.FindAllString(strings.ToLower(sentence), -1)
	if s.left -= len(s.list); s.left < 0 {
		return best
	}
	shared := make([]int, len(s.list))
	for _, w := range words {
		if s.left -= len(s.having[w]); s.left < 0 {
			return best
		}
		for _, i := range s.having[w] {
			shared[i]++
		}
	}
	most := len(words) / 2
	for i, n := range shared {
		if n > most {
			best, most = s.list[i], n
		}
	}
	return best
}

// severities are what a row can demand, the mildest first.
var severities = []string{"off", "nit", "minor", "major", "critical"}

// ranks returns the worst and the mildest severity of a cell such as "major or nit", as places in severities; ok is false
// for another text.
func ranks(cell string) (worst, mildest int, ok bool) {
	first, second, two := strings.Cut(strings.ToLower(cell), " or ")
	if !two {
		second = first
	}
	worst, mildest = slices.Index(severities, strings.TrimSpace(first)), slices.Index(severities, strings.TrimSpace(second))
	return worst, mildest, worst >= 0 && mildest >= 0
}

// row is one row of a guideline's table: its id, severity, scope and criterion.
type row struct {
	cells []string
	line  int
}

// rows returns the rows of a guideline's tables that have a severity, by id.
func rows(content []byte) map[string]row {
	out, lineOf := map[string]row{}, doc.Lines(content)
	root := markdown.Parser().Parse(text.NewReader(content))
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering || n.Kind() != table.KindTableRow {
			return ast.WalkContinue, nil
		}
		r := row{}
		for cell := n.FirstChild(); cell != nil; cell = cell.NextSibling() {
			r.cells = append(r.cells, strings.Trim(string(cell.Lines().Value(content)), " `"))
			if cell.Lines().Len() > 0 && r.line == 0 {
				r.line = lineOf(cell.Lines().At(0).Start)
			}
		}
		if len(r.cells) > 3 {
			if _, _, ok := ranks(r.cells[1]); ok {
				// A star behind an id only says that a machine can check the row.
				out[strings.TrimRight(r.cells[0], "*` ")] = r
			}
		}
		return ast.WalkSkipChildren, nil
	})
	return out
}

// guidelines are the rows of all guideline documents on both sides, by their folders and ids.
type guidelines struct{ before, after map[string]map[string]row }

func guidelinesIn(files []change.File) guidelines {
	all := guidelines{map[string]map[string]row{}, map[string]map[string]row{}}
	add := func(side map[string]map[string]row, name string, content []byte) {
		if !isOwn(name) || path.Ext(name) != ".md" {
			return
		}
		dir := path.Dir(name)
		if side[dir] == nil {
			side[dir] = map[string]row{}
		}
		maps.Copy(side[dir], rows(content))
	}
	for _, f := range files {
		add(all.before, f.OldPath, f.Before)
		add(all.after, f.Path, f.After)
	}
	return all
}

// guidelineRows finds rows that are gone, milder or narrower, or that say something else, and new ones that switch off or
// replace what other documents demand.
func guidelineRows(f change.File, all guidelines) []change.Finding {
	dir := path.Dir(cmp.Or(f.OldPath, f.Path))
	before, after := all.before[dir], all.after[dir]
	var found []change.Finding
	for id, was := range rows(f.Before) {
		is, there := after[id]
		at := change.Place{Path: f.Name(), Line: was.line, Before: strings.Join(was.cells, " | ")}
		worst, mildest, _ := ranks(was.cells[1])
		if worst == 0 { // it demanded nothing
			continue
		}
		if !there {
			found = append(found, policy(change.Hold, "guideline", "The guideline "+id+" is gone.", at))
			continue
		}
		nowWorst, nowMildest, _ := ranks(is.cells[1])
		if nowWorst >= worst && nowMildest >= mildest && (is.cells[2] == was.cells[2] || is.cells[2] == "all") && is.cells[3] == was.cells[3] {
			continue
		}
		at.Line, at.After = is.line, strings.Join(is.cells, " | ")
		found = append(found, policy(change.Hold, "guideline", "The guideline "+id+" is milder, narrower or says something else.", at))
	}
	name := strings.TrimSuffix(path.Base(f.Path), ".md")
	if f.OldPath != f.Path && f.Path == ".touchstone/guidelines/"+name+".md" && slices.Contains(builtIn, name) {
		found = append(found, policy(change.Hold, "guideline", "A document takes the place of the guidelines "+name+" that the product brings.",
			change.Place{Path: f.Path, Line: 1}))
	}
	for id, is := range rows(f.After) {
		if _, known := before[id]; known {
			continue
		}
		at := change.Place{Path: f.Path, Line: is.line, After: strings.Join(is.cells, " | ")}
		switch of, _, _ := strings.Cut(id, "/"); {
		case strings.EqualFold(is.cells[1], "off"):
			found = append(found, policy(change.Hold, "guideline", "The guideline "+id+" is switched off.", at))
		case of != name:
			found = append(found, policy(change.Evidence, "guideline", "The guideline "+id+" of another document is replaced here.", at))
		}
	}
	slices.SortFunc(found, func(a, b change.Finding) int { return cmp.Or(a.Line-b.Line, cmp.Compare(a.Why, b.Why)) })
	return found
}

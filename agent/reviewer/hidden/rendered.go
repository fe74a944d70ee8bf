package hidden

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
	"golang.org/x/net/html"
)

const (
	// MaxRendered bounds, in bytes, the Markdown that is parsed; GitHub takes 65,536
	// characters in one description or comment. A longer text is a passage as a whole.
	MaxRendered = 256 << 10
	// wordy is how many words an attribute or an image's description holds at least
	// if it is a text of its own.
	wordy = 25
	// wordyTitle is how many a title has then, which shows only under a pointer.
	wordyTitle = 8
)

// FindRendered is [Find] for Markdown that GitHub renders, a description or a
// comment: it also finds what is in the source and not on the page. A comment that
// stands in one of the known texts, such as a repository's own template for pull
// requests, is none, and neither is one of a single word, by which programs find
// their own text again.
func FindRendered(markdown string, known ...string) []Passage {
	found := Find(markdown)
	if len(markdown) > MaxRendered {
		return append(found, Passage{Kind: Comment, Line: 1, Text: "The text is too long to be looked through."})
	}
	p := page{source: []byte(markdown), known: squeeze(strings.Join(known, "\n"))}
	tree := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(p.source))
	_ = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			p.visit(n)
		}
		return ast.WalkContinue, nil
	})
	found = append(found, p.found...)
	slices.SortStableFunc(found, func(a, b Passage) int { return a.Line - b.Line })
	return found[:min(len(found), MaxPassages)]
}

// page is a Markdown text that is being looked through.
type page struct {
	source []byte
	known  string
	found  []Passage
}

func (p *page) add(kind Kind, at int, what string) {
	if len(p.found) == MaxPassages {
		return
	}
	line := 1 + strings.Count(string(p.source[:at]), "\n")
	p.found = append(p.found, Passage{Kind: kind, Line: line, Text: clip(Reveal(squeeze(what)))})
}

// addUnknown is add for what is not in one of the known texts.
func (p *page) addUnknown(kind Kind, at int, what string) {
	if !strings.Contains(p.known, squeeze(what)) {
		p.add(kind, at, what)
	}
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// white is TeX that is typeset and cannot be seen.
var white = regexp.MustCompile(`\\(?:text)?color\s*\{?\s*(?:white|transparent|#fff)|\\[hv]?phantom\s*\{|\\(?:fontsize|tiny)\b|\\script(?:script)?style\b[^$\n]*\\text`)

// within are entities that show nothing, in the middle of a word. Programs put one
// behind an @ or a # so that nobody is called.
var within = regexp.MustCompile(`\pL(?:&(?:#[0-9]{2,7}|#[xX][0-9a-fA-F]{2,6}|[A-Za-z]{2,31});)+\pL`)

func (p *page) visit(n ast.Node) {
	switch n := n.(type) {
	case *ast.HTMLBlock:
		if n.Lines().Len() == 0 {
			return
		}
		raw := n.Lines().Value(p.source)
		if n.HasClosure() {
			raw = append(slices.Clone(raw), n.ClosureLine.Value(p.source)...)
		}
		p.markup(n.Lines().At(0).Start, string(raw))
	case *ast.LinkReferenceDefinition:
		p.definition(n)
	case *ast.Paragraph:
		p.footnotes(n)
	case *ast.RawHTML:
		p.markup(n.Segments.At(0).Start, string(n.Segments.Value(p.source)))
	case *ast.Image:
		if alt := describe(n, p.source); len(strings.Fields(alt)) >= wordy {
			p.add(Markup, p.begin(n), alt)
			return
		}
		p.title(n, n.Title)
	case *ast.Link:
		p.title(n, n.Title)
	case *ast.Text:
		if said := n.Segment.Value(p.source); n.Parent().Kind() != ast.KindCodeSpan && (white.Match(said) || dividesWord(said)) {
			p.add(Markup, n.Segment.Start, string(said))
		}
	}
}

func (p *page) title(n ast.Node, title []byte) {
	if len(strings.Fields(string(title))) >= wordyTitle {
		p.add(Markup, p.begin(n), string(title))
	}
}

// dividesWord reports whether an entity that shows nothing stands within a word.
func dividesWord(said []byte) bool {
	return slices.ContainsFunc(within.FindAll(said, -1), func(word []byte) bool {
		plain := []rune(html.UnescapeString(string(word)))
		return slices.ContainsFunc(plain[1:len(plain)-1], func(r rune) bool { return invisible(r) && !unicode.In(plain[0], joining...) })
	})
}

// begin is where the block begins that holds an inline node.
func (p *page) begin(n ast.Node) int {
	for n != nil && n.Type() != ast.TypeBlock {
		n = n.Parent()
	}
	if n == nil || n.Lines().Len() == 0 {
		return 0
	}
	return n.Lines().At(0).Start
}

// describe is the text below a node.
func describe(n ast.Node, source []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(source))
			b.WriteByte(' ')
		} else {
			b.WriteString(describe(c, source))
		}
	}
	return b.String()
}

// unseen is a style that shows nothing. GitHub takes styles away and so shows the
// text; that it was to be hidden says enough.
var unseen = regexp.MustCompile(`(?i)display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(?:\.0*)?(?:\s*[;"']|$)|font-size\s*:\s*[01](?:px|pt|em|rem|%)?\s*(?:[;"']|$)|color\s*:\s*(?:white|transparent|#fff)|(?:left|top|text-indent)\s*:\s*-\d{3,}`)

// markup looks through raw HTML that begins at a byte of the source.
func (p *page) markup(at int, raw string) {
	tokens := html.NewTokenizer(strings.NewReader(raw))
	for {
		kind := tokens.Next()
		token := tokens.Token()
		switch kind {
		case html.ErrorToken:
			return
		case html.CommentToken, html.DoctypeToken:
			p.comment(at, token.Data)
		case html.StartTagToken, html.SelfClosingTagToken:
			p.attributes(at, token)
		}
		at += len(tokens.Raw())
	}
}

func (p *page) comment(at int, said string) {
	if said = squeeze(said); strings.ContainsRune(said, ' ') || len(said) > 80 {
		p.addUnknown(Comment, at, said)
	}
}

func (p *page) attributes(at int, tag html.Token) {
	for _, a := range tag.Attr {
		switch {
		case a.Key == "title" && len(strings.Fields(a.Val)) >= wordyTitle, a.Key == "hidden", a.Key == "style" && unseen.MatchString(a.Val), len(strings.Fields(a.Val)) >= wordy:
			p.add(Markup, at, tag.String())
			return
		}
	}
}

// definition finds a link that is defined for the text in it, such as
// [//]: # (like this).
func (p *page) definition(d *ast.LinkReferenceDefinition) {
	said := string(d.Title)
	if strings.ContainsRune(string(d.Destination), ' ') {
		said = string(d.Destination) + " " + said
	}
	if words := len(strings.Fields(said)); words >= wordy || words >= 3 && !p.refersTo(string(d.Label)) {
		p.addUnknown(Comment, d.Pos(), said)
	}
}

// footnote is the beginning of a footnote's text.
var footnote = regexp.MustCompile(`^ {0,3}\[(\^[^\]]+)\]:(.*)`)

// footnotes finds those that nothing refers to: GitHub leaves them out.
func (p *page) footnotes(paragraph *ast.Paragraph) {
	for i := range paragraph.Lines().Len() {
		line := paragraph.Lines().At(i)
		m := footnote.FindSubmatch(line.Value(p.source))
		if m != nil && len(strings.Fields(string(m[2]))) >= 3 && !p.refersTo(string(m[1])) {
			p.addUnknown(Comment, line.Start, string(m[2]))
		}
	}
}

// refersTo reports whether the text uses a label besides defining it.
func (p *page) refersTo(label string) bool {
	return strings.Count(strings.ToLower(string(p.source)), "["+strings.ToLower(label)+"]") > 1
}

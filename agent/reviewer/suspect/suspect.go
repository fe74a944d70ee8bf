// Package suspect finds, in code and without a model, parts of a change that are not what they seem to
// readers, and texts that address the machine that reviews the change. It knows what such texts and files
// look like. It works on values and does no I/O. Its rule is row S14 of the security guideline.
//
// What is certain holds a change for a person: invisible characters, names that look like others, the
// product's own markers and delimiters, files that no session can read. What reads like an address to the
// reviewer is evidence: the session must respond to it, and the posted review shows it. No list of sentences
// catches everything that could sway a model, and the holds do not need one: a session's answer counts only
// in this run's form, and strangers' text stands between delimiters that strangers cannot produce.
package suspect

import (
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"
	"unicode"

	"touchstone/agent/reviewer/hidden"
	"touchstone/verdict"
	"touchstone/worktree/diff"
	"touchstone/worktree/filekind"
	"touchstone/worktree/lazyregexp"
)

// Form says how a text reaches its readers.
type Form int

// The forms of texts.
const (
	// Name is a title, or the name of a branch or a file.
	Name Form = iota
	// Prose is a commit message.
	Prose
	// Markdown is rendered by GitHub: a description, a comment, an issue.
	Markdown
	// Code is the text of a file.
	Code
	// Output is the output of a program: the log of a check.
	Output
)

// Text is one text of a pull request or of something that belongs to it.
type Text struct {
	Form Form
	// What describes the text for people, such as "the description".
	What string
	// Path is the file that contains the text, and Line the number of its first line there, from 1.
	Path string
	Line int
	Text string
}

const (
	// MaxFound is the maximum number of holds of one change, and of the marks and addresses in one text. One more hold says
	// that there were others.
	MaxFound = 50
	// maxDetail is the maximum length of the details on one place, in bytes.
	maxDetail = 300
	rule      = "security/S14"
)

// Look finds the holds of a change with these texts, and the evidence that the session must respond to. There
// is at most one of each kind per line.
func Look(texts []Text) (holds []verdict.Hold, evidence []verdict.Evidence) {
	for _, t := range texts {
		t.Text = verdict.WithoutMarks(t.Text)
		for _, p := range t.hidden() {
			h := t.hold(verdict.HiddenText, p.Line, fmt.Sprintf("%s holds hidden text (%s): %s", t.what(), p.Kind, p.Text))
			written := p.Kind == hidden.Invisible || p.Kind == hidden.Bidirectional // right-to-left languages need these
			if p.Kind == hidden.Said || filekind.Test(t.Path) && (data(t.Path) || t.other() || p.Kind == hidden.Quoted) ||
				written && translation(t.Path) || t.minified(p.Line) || t.character(p) || t.alone(p) ||
				letters(p) && (t.comment(p.Line) || t.formula(p.Line)) {
				evidence = append(evidence, verdict.Evidence{Kind: string(h.Kind), Rule: rule, Path: h.Path, Line: h.Line, Detail: h.Detail})
				continue
			}
			holds = append(holds, h)
		}
		for line, said := range matches(markers(t.Text), t.Text) {
			holds = append(holds, t.hold(verdict.Manipulation, line, fmt.Sprintf("%s imitates the product's own markers: “%s”", t.what(), said)))
		}
		for line, said := range matches(addresses(t.Text), t.Text) {
			h := t.hold(verdict.Manipulation, line, fmt.Sprintf("%s reads like an address to the reviewer: “%s”", t.what(), said))
			evidence = append(evidence, verdict.Evidence{Kind: "address", Rule: rule, Path: h.Path, Line: h.Line, Detail: h.Detail})
		}
	}
	if len(holds) > MaxFound {
		holds = append(holds[:MaxFound:MaxFound],
			verdict.Hold{Kind: holds[MaxFound].Kind, Rule: rule, Detail: "There is more of this than is listed here."})
	}
	return holds, evidence
}

// marker matches text that only the product and its sessions write: the lines that end an answer, the
// product's state, the delimiters of a prompt, and the fence of an answer's data.
var marker = lazyregexp.New(`<!--\s*(?:VERDICT:|RUN:|touchstone:)\w*|</?untrusted-\w*|(?:` + "```|~~~" + `)touchstone\b`)

// markers returns where marker matches in a text, at most [MaxFound] times. A search for these words is much faster than
// marker, and most texts have none of them.
func markers(text string) [][]int {
	has := func(word string) bool { return strings.Contains(text, word) }
	if !slices.ContainsFunc([]string{"VERDICT:", "RUN:", "touchstone", "untrusted-"}, has) {
		return nil
	}
	return marker.FindAllStringIndex(text, MaxFound)
}

// sentences match the beginnings of texts for a reviewing machine. They only draw attention, and block nothing. Each begins
// with a whole word, or with a group of alternatives that begin with whole words.
var sentences = []string{
	`(?:ai|llm|automated|machine|bot) (?:code )?review(?:er|ing|s)\b`,
	`(?:ignore|disregard|forget|override) (?:\w+ ){0,2}(?:previous|prior|above|earlier|your) (?:\w+ )?(?:instructions|rules|prompts?` +
		`|guidelines)`,
	`(?:dear|attention)` + reader,
	`(?:note|notes|message|instruction|instructions|hint) (?:to|for)` + reader,
	`(?:please |must |should |simply |just )approve (?:this|it|the (?:change|pr|pull request))\b`,
	`(?:report|raise|list) no findings\b`,
	`you are (?:now )?(?:an? |the )(?:ai|language model|reviewer|assistant)\b`,
	`no (?:further|additional|human) review (?:is )?(?:needed|required|necessary)\b`,
	`(?:pre-approved|preapproved|already approved) by (?:the )?(?:reviewers?|maintainers?|security|owners?|team)\b`,
	`(?:reply|respond|answer|conclude|finish|end) with \W{0,3}approve\b`,
	`verdict(?: is| must be| should be|:) \W{0,3}approve\b`,
	`(?:mark|treat|consider|count) (?:\w+ ){0,3}(?:findings?|evidence|concerns?) as (?:already )?` +
		`(?:resolved|refuted|verified|answered|false positives?)\b`,
	`(?:do not|don't|never) (?:flag|report|raise|list|mention) (?:\w+ ){0,3}(?:findings|concerns)\b`,
	`(?:new|updated|system|developer) instructions:`,
}

// reader is whom a text for a reviewing machine is for.
const reader = `(?: the| any| all)?[ ,:]+(?:ai|llm|bot|reviewer|assistant|model|agent)s?\b`

var (
	// address matches sentences at the start of a text.
	address = lazyregexp.New(`(?i)^(?:` + strings.Join(sentences, "|") + `)`)
	// first are the words with which address can match.
	first = func() map[string]bool {
		all := map[string]bool{}
		for _, s := range sentences {
			group := strings.TrimPrefix(s, "(?:")
			for begin := range strings.SplitSeq(group[:strings.IndexAny(group, "()")], "|") {
				all[begin[:wordEnd(begin, 0)]] = true
			}
		}
		return all
	}()
)

// addresses returns where sentences begin in a text, with the ends of their first words, at most [MaxFound] of them. It tries
// only the places with such a word: an expression that is tried at every character takes many times as long as the guard.
func addresses(text string) (all [][]int) {
	for at := 0; at < len(text) && len(all) < MaxFound; {
		end := wordEnd(text, at)
		if first[strings.ToLower(strings.ReplaceAll(text[at:end], "ſ", "s"))] && address.MatchString(text[at:]) {
			all = append(all, []int{at, end})
		}
		at = max(end, at+1)
	}
	return all
}

// wordEnd returns the end of the word that begins at an offset, which is the offset itself if none does. The long s and the
// Kelvin sign are letters of it, since address takes them for others.
func wordEnd(text string, at int) int {
	n := strings.IndexFunc(text[at:], func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r != 'ſ' && r != '\u212a'
	})
	if n < 0 {
		return len(text)
	}
	return at + n
}

// matches yields the line numbers of what was found in a text, each with the text of the line.
func matches(found [][]int, text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		line, at, before := 1, 0, 0
		for _, m := range found {
			line += strings.Count(text[at:m[0]], "\n")
			at = m[0]
			start := strings.LastIndexByte(text[:m[0]], '\n') + 1
			said, _, _ := strings.Cut(text[start:], "\n")
			if line != before && !yield(line, verdict.Clip(strings.TrimSpace(text[max(start, m[0]-80):start+len(said)]), 160)) {
				return
			}
			before = line
		}
	}
}

func (t Text) hold(kind verdict.HoldKind, line int, detail string) verdict.Hold {
	h := verdict.Hold{Kind: kind, Rule: rule, Path: t.Path, Detail: verdict.Clip(detail, maxDetail)}
	if t.Path != "" && t.Form == Code {
		h.Line = max(t.Line, 1) + line - 1
	}
	return h
}

func (t Text) what() string {
	switch {
	case t.What != "":
		return strings.ToUpper(t.What[:1]) + t.What[1:]
	case t.Form == Code:
		return "The file"
	}
	return "The file's name"
}

// separators replaces the line and paragraph separators of Unicode.
var separators = strings.NewReplacer("\u2028", " ", "\u2029", " ")

// hidden returns the hidden text in a text. In prose, letters that look like others do not count, since prose
// is written in all scripts.
func (t Text) hidden() []hidden.Passage {
	if t.Form == Output {
		return nil // a log contains whatever programs print
	}
	text := t.Text
	if t.Form == Markdown && t.Path == "" { // word processors end lines with these separators
		text = separators.Replace(text)
	}
	found := t.find(text)
	if t.Form == Name || t.Form == Code && !prose(t.Path) && !translation(t.Path) {
		return found
	}
	return slices.DeleteFunc(found, letters)
}

// find finds the hidden text in the text or a part of it.
func (t Text) find(text string) []hidden.Passage {
	if t.Form == Code && (filekind.Code(t.Path) || !prose(t.Path)) {
		return hidden.FindCode(text)
	}
	return hidden.Find(text)
}

// letters reports whether a passage has letters that look like others.
func letters(p hidden.Passage) bool {
	return p.Kind == hidden.Lookalike || p.Kind == hidden.Quoted || p.Kind == hidden.Said
}

// prose reports whether a file is written for people, by its name.
func prose(name string) bool {
	return slices.Contains([]string{".md", ".mdx", ".markdown", ".rst", ".adoc", ".txt", ".po", ".pot", ".arb", ".csv", ".tsv", ".html"},
		strings.ToLower(path.Ext(name)))
}

// languages matches the folders in which the texts of a program are kept in each language. Those of Android have texts only
// in XML: in others of the name values are the settings of Helm.
var languages = lazyregexp.New(`(?i)(?:^|/)(?:values(?:-[\w+-]+)?/[^/]+\.xml$|` +
	`(?:locales?|i18n|l10n|langs?|languages|translations?|[\w-]+\.lproj)/)`)

// translation reports whether a file contains translated texts of a program, by its name.
func translation(name string) bool {
	return slices.Contains([]string{".po", ".pot", ".arb", ".xlf", ".xliff", ".strings", ".ftl"}, strings.ToLower(path.Ext(name))) ||
		data(name) && languages.MatchString(name)
}

// data reports whether a file contains no code, by its name. Test vectors contain such characters on purpose.
func data(name string) bool {
	formats := []string{".json", ".jsonl", ".txt", ".csv", ".tsv", ".xml", ".html", ".yaml", ".yml", ".md", ".snap", ".golden", ".out"}
	return slices.Contains(formats, strings.ToLower(path.Ext(name))) && !strings.EqualFold(path.Base(name), "CMakeLists.txt")
}

// other reports whether a file is neither code nor, as a text without an ending, possibly a script. A few bytes that are
// not UTF-8 make no script something else.
func (t Text) other() bool {
	return !filekind.Code(t.Path) && (path.Ext(t.Path) != "" || noise(t.Text))
}

// minified reports whether a line is generated for browsers, which means longer than people write. The
// character classes of its regular expressions contain such characters as they are, not as escapes.
func (t Text) minified(line int) bool {
	const longest = 1000 // bytes
	if !slices.Contains([]string{".js", ".mjs", ".cjs", ".css"}, strings.ToLower(path.Ext(t.Path))) {
		return false
	}
	return len(t.line(line)) > longest
}

// revealed matches an invisible character that [hidden.Reveal] shows.
var revealed = lazyregexp.New(`⟦U\+([0-9A-F]+)⟧`)

// alone reports whether what is hidden are single characters in a document: they come with copied text, and hide nothing.
// Two different ones in a line could be the bits of a text, and the selectors beyond U+FFFF are bytes of one.
func (t Text) alone(p hidden.Passage) bool {
	if t.Form != Code || !prose(t.Path) || filekind.Code(t.Path) || p.Kind != hidden.Invisible {
		return false
	}
	line := hidden.Reveal(t.line(p.Line))
	all := revealed.FindAllStringSubmatch(line, -1)
	return !strings.Contains(line, "⟧⟦") && !slices.ContainsFunc(all, func(m []string) bool { return m[1] != all[0][1] || len(m[1]) > 4 })
}

// comment reports whether a line contains only a comment. A letter of another script in a comment is a slip
// of the keyboard, and names nothing. In a string over several lines, no line is a comment.
func (t Text) comment(number int) bool {
	mark := filekind.LineComment(t.Path)
	is := func(line string) bool { return mark != "" && strings.HasPrefix(strings.TrimSpace(line), mark) }
	lines := slices.DeleteFunc(strings.SplitN(t.Text, "\n", number)[:number-1], is)
	open := func(quote string) bool { return strings.Count(strings.Join(lines, "\n"), quote)%2 == 1 }
	return is(t.line(number)) && !slices.ContainsFunc([]string{`"`, "`", "'''"}, open)
}

// script matches script, fraktur and double-struck letters, which readers tell from ASCII.
var script = lazyregexp.New(`[\x{1D49C}-\x{1D59F}]`)

// formula reports whether all letters of a line that look like others are those of formulas, in a file of Julia. Its names
// contain them, and are not the names in ASCII that they resemble, as they would be in Python
// (https://docs.julialang.org/en/v1/manual/variables/#man-allowed-variable-names).
func (t Text) formula(number int) bool {
	return path.Ext(t.Path) == ".jl" && !slices.ContainsFunc(hidden.Find(script.ReplaceAllString(t.line(number), "")), letters)
}

var (
	// single matches a string of one character. A line of such strings alone is a part of a table, as programs
	// generate it from Unicode's data.
	single = lazyregexp.New(`'(?:[^'\\]|\\[^']+)'|"(?:[^"\\]|\\[^"]+)"`)
	// glyph matches the character that a glyph of a font shows.
	glyph = lazyregexp.New(`\bunicode="[^"]{1,8}"`)
	// mark matches the byte order mark as a string or an expression of its own, as code that removes it has it.
	mark = lazyregexp.New("[\"'`]\\x{FEFF}[\"'`]|/\\^?\\x{FEFF}/")
	// location matches a string at the end of a statement that is an address and has neither space nor brackets,
	// so that no code can be made of it.
	location = lazyregexp.New("[\"'`][a-z]+:/*[^\\s\"'`(){}\\[\\];]*[\"'`][),;]*$")
)

// character reports whether what is hidden in a line is a character that the line is about: an element of a table
// of characters, a byte order mark, the character of a glyph, or a part of an address with which tests try how it is read.
func (t Text) character(p hidden.Passage) bool {
	line := t.line(p.Line)
	apart := single.ReplaceAllString(line, "")
	named := strings.ContainsFunc(apart, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r > unicode.MaxASCII })
	if len(single.FindAllString(line, 2)) > 1 && !named {
		return true
	}
	about := mark
	if strings.EqualFold(path.Ext(t.Path), ".svg") {
		about = glyph
	} else if filekind.Test(t.Path) {
		about = location
	}
	return !slices.ContainsFunc(t.find(about.ReplaceAllString(line, "")), func(left hidden.Passage) bool { return left.Kind == p.Kind })
}

// line returns the text's line with this number, from 1.
func (t Text) line(number int) string {
	lines := strings.SplitN(t.Text, "\n", number+1)
	return lines[min(number, len(lines))-1]
}

// Added returns what a unified diff adds to one file: the file's name, and the added lines. Consecutive lines
// form one text.
func Added(path string, patch []byte) []Text {
	texts := []Text{{Form: Name, Path: path, Text: path}}
	var run []byte
	first := 0
	flush := func() {
		if len(run) > 0 {
			texts = append(texts, Text{Form: Code, Path: path, Line: first, Text: string(run)})
		}
		run = run[:0]
	}
	for l := range diff.Lines(patch) {
		switch l.Sign {
		case '@', ' ':
			flush()
		case '+':
			if len(run) == 0 {
				first = l.New
			}
			run = append(append(run, l.Text()...), '\n')
		}
	}
	flush()
	return texts
}

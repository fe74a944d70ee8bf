package code

import (
	_ "embed"
	"path"
	"regexp"
	"slices"
	"strings"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/table"
)

// directive is a comment's instruction to a tool to ignore something.
type directive struct {
	mark  string // in lower case, as written in the comment
	reach string // see directives.txt
}

//go:embed directives.txt
var directivesText string

// directivesBy has the directives of each language by their first letter.
var directivesBy = func() map[string]map[byte][]directive {
	out := map[string]map[byte][]directive{}
	for _, l := range languages {
		out[l.name] = map[byte][]directive{}
	}
	for _, row := range table.Read(directivesText).Rows("") {
		for name, by := range out {
			if row[0] != "all" && !slices.Contains(strings.Split(row[0], ","), name) {
				continue
			}
			for mark := range strings.SplitSeq(row[2], " | ") {
				by[mark[0]] = append(by[mark[0]], directive{mark, row[1]})
			}
		}
	}
	return out
}()

// directiveOf is the longest directive that a text, in lower case, begins with, and its length there.
func directiveOf(rest string, known map[byte][]directive) (best directive, length int) {
	if rest == "" {
		return best, 0
	}
	for _, d := range known[rest[0]] {
		n := d.begins(rest)
		ends := n > 0 && (len(rest) == n || !isWordByte(rest[n]) || !isWordByte(rest[n-1]))
		if len(d.mark) > len(best.mark) && ends {
			best, length = d, n
		}
	}
	return best, length
}

// begins is the length of a directive at the beginning of a text; 0 if it is not there. Blanks beside a sign do not
// matter.
func (d directive) begins(rest string) int {
	n, free := 0, false
	for i := 0; i < len(d.mark); i++ {
		c := d.mark[i]
		if free = free || c != ' ' && !isWordByte(c); free {
			n += len(rest[n:]) - len(strings.TrimLeft(rest[n:], " "))
		}
		if free && c == ' ' {
			continue
		}
		if n == len(rest) || rest[n] != c {
			return 0
		}
		n, free = n+1, c != ' ' && !isWordByte(c)
	}
	return n
}

// lower converts ASCII letters to lower case and keeps all other bytes, so that positions stay the same.
func lower(text string) string {
	b := []byte(text)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// reach is the part of a file in which a directive hides findings.
type reach uint8

const (
	onePlace  reach = iota // a line or a definition
	wholeFile              // a rule in a whole file or module
	blanket                // all rules in a whole file or module
	asks                   // none: it asks for a strict check of a whole file
)

// suppression is one directive and its place.
type suppression struct {
	side  *side
	tool  string
	rules []string // none means all
	code  string   // the code that it applies to
	line  int
	reach reach
}

// suppressions are the directives that a change added, and those that it removed.
type suppressions struct{ left, gone []suppression }

// see adds the directives of both sides of a file. Either side may be nil. Directives on both sides are left
// out.
func (v *suppressions) see(before, after *side) {
	had, has := before.suppressionsOf(), after.suppressionsOf()
	for _, same := range []func(a, b suppression) bool{
		func(a, b suppression) bool { return a.covers(b) && a.code == b.code && a.reach == b.reach },
		suppression.covers,
	} {
		has, had = cancel(has, had, same)
	}
	for _, u := range had {
		if u.reach == asks && after != nil && path.Ext(after.path) == path.Ext(before.path) {
			v.left = append(v.left, suppression{side: after, tool: u.tool, line: 1, reach: asks})
		}
	}
	asking := func(u suppression) bool { return u.reach == asks }
	v.left, v.gone = append(v.left, slices.DeleteFunc(has, asking)...), append(v.gone, slices.DeleteFunc(had, asking)...)
	if before != nil && after != nil && after.poses() {
		v.left = append(v.left, suppression{side: after, tool: posing, line: 1, reach: blanket})
	}
}

// posing is the tool name for a file that people wrote and that now says that a program wrote it. Tools and
// readers skip generated files.
const posing = "generated"

// poses reports whether a side is such a file: half of its definitions were there before.
func (s *side) poses() bool {
	if !generated(s.path, []byte(s.text)) || generated("", []byte(s.other.text)) {
		return false
	}
	bodies, same := map[uint64]bool{}, 0
	for _, u := range s.other.units {
		bodies[u.digest] = true
	}
	for _, u := range s.units {
		if bodies[u.digest] {
			same++
		}
	}
	return same > 0 && same*2 >= len(s.units)
}

// suppressionsOf returns the directives in a side's comments and attributes.
func (s *side) suppressionsOf() (out []suppression) {
	if s == nil {
		return nil
	}
	for _, n := range s.notes {
		if len(out) < maxSuppressions {
			out = append(out, s.directivesOf(n)...)
		}
	}
	for i := range s.tokens {
		if u, ok := s.attributeAt(i); ok && len(out) < maxSuppressions {
			out = append(out, u)
		}
	}
	return out
}

// maxSuppressions bounds the directives of one side of a file.
const maxSuppressions = 5000

// directivesOf returns the directives of a comment. A directive begins at the start of the comment or of one
// of its lines, or after another comment mark.
func (s *side) directivesOf(n note) []suppression {
	var out []suppression
	content := s.text[n.from:n.to]
	if s.lang.name == "Go" && strings.Contains(content, "#cgo") {
		out = s.cgo(n)
	}
	at, known := n, directivesBy[s.lang.name]
	for line := range strings.Lines(content) {
		rest := lower(line[:min(len(line), 4*maxText)])
		for from := 0; from < len(rest); {
			from = len(rest) - len(strings.TrimLeft(rest[from:], "/*#!<- \t"))
			d, n := directiveOf(rest[from:], known)
			idle := d.reach == "asks" && (!at.alone || !s.lang.python && at.next > 0) // TypeScript looks only above the code
			if n > 0 && !idle && (d.mark != "eslint" || strings.Contains(rest, "off") || strings.Contains(rest, ": 0")) {
				out = append(out, s.suppressed(at, d, line[from+n:]))
			}
			next := strings.IndexAny(rest[from:], "/#")
			if next < 0 {
				break
			}
			from += next + 1
		}
		if strings.Contains(rest, "nosonar") && len(out) == 0 {
			out = append(out, s.suppressed(at, directive{mark: "nosonar", reach: "bare"}, ""))
		}
		at.line++
	}
	return out
}

// suppressed makes the suppression for a directive in a comment.
func (s *side) suppressed(n note, d directive, rest string) suppression {
	u := suppression{side: s, tool: strings.TrimRight(d.mark, ":"), line: n.line, code: s.codeAt(n)}
	if d.reach == "line" || d.reach == "file" {
		u.rules = rulesIn(rest)
	}
	top := n.alone && s.begins(n) && (d.reach == "file" || d.reach == "all" || d.reach == "asks" || n.next == 0 && atTop[d.mark])
	indented := s.lang.python && d.mark == "pylint: disable" && n.next < len(s.tokens) && s.tokens[n.next].column > 0
	switch {
	case !top || indented || s.reenabled(n, d.mark):
	case d.reach == "asks":
		u.reach, u.code = asks, ""
	case len(u.rules) == 0 || len(u.rules) == 1 && (strings.EqualFold(u.rules[0], "all")):
		u.reach, u.code = blanket, ""
	default:
		u.reach, u.code = wholeFile, ""
	}
	return u
}

// begins reports whether a comment begins by itself, and not in a C preprocessor line, which the lexer joins
// with it.
func (s *side) begins(n note) bool {
	return s.lang.name != "C" || !strings.HasPrefix(strings.TrimSpace(s.text[n.from:n.to]), "#")
}

// atTop are directives for one place that apply to the whole file if they precede all code.
var atTop = map[string]bool{"nolint": true, "type: ignore": true, "pragma warning disable": true, "rubocop:disable": true}

// reenabled reports whether a later comment enables again what a comment disables.
func (s *side) reenabled(n note, mark string) bool {
	on := strings.NewReplacer("disable", "enable", ":off", ":on", ".off", ".on", "begin", "end").Replace(mark)
	return slices.ContainsFunc(s.notes, func(m note) bool {
		comment := s.text[m.from:m.to]
		return m.from > n.from &&
			(on != mark && strings.Contains(strings.ToLower(comment), on) || strings.Contains(comment, "pragma warning restore"))
	})
}

// rulesIn returns the rules after a directive, sorted and without the reason.
func rulesIn(rest string) []string {
	rest, _, _ = strings.Cut(rest, "\n")
	for _, end := range []string{"--", "*/", "//", "#", " - "} {
		rest, _, _ = strings.Cut(rest, end)
	}
	bracketed := strings.HasPrefix(strings.TrimSpace(rest), "[") || strings.HasPrefix(strings.TrimSpace(rest), "(")
	if i := strings.IndexAny(rest, "])"); bracketed && i >= 0 {
		rest = rest[:i]
	}
	out := strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune(` ,=[]():"'`, r) })
	slices.Sort(out)
	return out
}

// codeAt is the code that a comment applies to: its own line, or the next one.
func (s *side) codeAt(n note) string {
	i := n.next
	if !n.alone {
		for i--; i > 0 && !s.tokens[i].first; i-- {
		}
		return s.plain(i, n.next)
	}
	last := i + 1
	for last < len(s.tokens) && !s.tokens[last].first {
		last++
	}
	return s.plain(i, last)
}

// cgo reads the C warnings that a cgo comment in Go turns off.
func (s *side) cgo(n note) []suppression {
	var out []suppression
	for i, text := range strings.Split(s.text[n.from:n.to], "\n") {
		for field := range strings.FieldsSeq(text) {
			if rest, ok := strings.CutPrefix(field, "-Wno-"); ok && strings.Contains(text, "#cgo") && !strings.HasPrefix(rest, "error=") {
				out = append(out, suppression{side: s, tool: "-Wno", rules: []string{rest}, line: n.line + i})
			}
		}
	}
	return out
}

// attributeAt reads an annotation or attribute that tells a tool to ignore something.
func (s *side) attributeAt(i int) (suppression, bool) {
	name := s.of(i)
	quiet := s.lang.python && name == "filterwarnings" && s.of(i-2) == "mark" && strings.HasPrefix(contentOf(s.of(i+2)), "ignore")
	ofRust := s.lang.rust && (name == "off" && s.of(i-2) == "coverage" ||
		(name == "allow" || name == "expect") && s.outer[i] > 0 && s.of(int(s.outer[i])-1) == "cfg_attr")
	ofAssembly := s.lang.name == "C#" && s.of(i-1) == ":" && s.of(i-2) == "assembly"
	annotated := s.tokens[i].kind == word && suppressing[name] && (s.annotation(i) || s.of(i-1) == "[" || ofAssembly)
	if s.lang.name == "JavaScript" && name == "declare" && s.of(i+1) == "module" && contentOf(s.of(i+2)) == "*" { // all modules have any type
		return suppression{side: s, tool: "declare module *", line: s.line(i), reach: wholeFile}, true
	}
	if !quiet && !ofRust && !annotated ||
		(name == "allow" || name == "expect") && (!s.lang.rust || s.of(i+1) != "(") || s.lang.rust && name == "Generated" {
		return suppression{}, false
	}
	u := suppression{side: s, tool: name, line: s.line(i)}
	end := i + 1
	if s.of(end) == "(" && s.mate(end) > 0 {
		end = s.mate(end) + 1
		for k := i + 2; k < end-1; k++ {
			switch {
			case s.tokens[k].kind == text:
				u.rules = append(u.rules, contentOf(s.of(k)))
			case s.lang.rust && s.of(k) == "reason" && s.of(k+1) == "=":
				k = end
			case s.lang.rust && s.tokens[k].kind == word && s.of(k+1) == "::" && k+2 < end:
				u.rules = append(u.rules, s.of(k)+"::"+s.of(k+2))
				k += 2
			case s.tokens[k].kind == word && s.of(k+1) != "=" && s.of(k+1) != ".":
				u.rules = append(u.rules, s.of(k))
			}
		}
	}
	slices.Sort(u.rules)
	inner := s.of(i-1) == "[" && s.of(i-2) == "!" || s.of(i-1) == ":" && s.of(i-2) == "file"
	all := slices.ContainsFunc(u.rules, func(r string) bool {
		return r == "all" || r == "ALL" || r == "warnings" || r == "clippy::all"
	})
	switch {
	case inner && all, all && s.outer[i] < 0 && s.lang.name == "Java": // on the class that is the file
		u.reach = blanket
	case inner:
		u.reach = wholeFile
	default:
		u.code = s.plain(end, min(end+12, len(s.tokens)))
	}
	return u, true
}

// covers reports whether a directive at the base hid everything that one at the head hides.
func (u suppression) covers(after suppression) bool {
	further := func(r string) bool { return !slices.Contains(u.rules, r) }
	return u.tool == after.tool && u.reach >= after.reach &&
		(len(u.rules) == 0 || len(after.rules) > 0 && !slices.ContainsFunc(after.rules, further))
}

// compareSuppressions finds directives that neither were in the file before nor moved there with their code
// from another file. A finding is certain only if the directive hides everything in code that existed.
func (x *examination) compareSuppressions() {
	left, gone := cancel(x.hidden.left, x.hidden.gone, func(a, b suppression) bool { return a.covers(b) && a.code == b.code })
	for _, u := range left {
		told := strings.TrimSpace(u.tool + " " + strings.Join(u.rules, ", "))
		tier, rule, why := change.Evidence, u.group(), "A tool is told to look away ("+told+")."
		switch {
		case u.idiom():
			continue
		case u.tool == posing:
			rule, why = "generated", "The file says that a program wrote it, and people did."
		case u.reach == asks:
			rule, why = "unasked", "The file asked a tool for a strict check ("+u.tool+"), and does no longer."
			if !slices.ContainsFunc(x.files, func(f change.File) bool {
				return change.IsManifest(f.Path) || strings.HasSuffix(f.Path, "config.json") // it may be asked for there now
			}) {
				tier = change.Hold
			}
		case u.reach == blanket && slices.ContainsFunc(gone, func(g suppression) bool {
			return g.reach == blanket && g.tool == u.tool && g.side == u.side.other
		}): // it hid the whole file before, with fewer rules
		case u.tool == "@ts-nocheck" && typed(u.side) && u.side.other != nil && !typed(u.side.other): // nor was it checked
		case u.reach == blanket && u.unchecked(): // nor was it checked, or a generator writes it
		case u.reach == blanket && u.side.other != nil && len(u.side.other.tokens) > 20:
			tier, rule, why = change.Hold, "blanket", "A tool is told to pass over a whole file that it checked."
		}
		x.say(tier, change.Suppression, "suppression/"+rule, why, u.side.headAt(u.line))
	}
}

var (
	// kept matches what the head of a file says that nobody may change.
	kept = regexp.MustCompile(`(?i)do not (?:manually )?(?:edit|modify)`)
	// sigil matches what asks Sorbet to check the types of a file.
	sigil = regexp.MustCompile(`(?m)^#\s*typed:\s*(?:true|strict|strong)\b`)
)

// unchecked reports whether a file was not one that people wrote and the tool checked, or is now what a generator wrote.
func (u suppression) unchecked() bool {
	s, b := u.side, u.side.other
	return b != nil && len(b.tokens) > 0 && (kept.MatchString(b.text[:b.tokens[0].from]) ||
		generated(s.path, []byte(s.text)) && s.rewritten() ||
		strings.HasPrefix(u.tool, "typed:") && !sigil.MatchString(b.text))
}

// rewritten reports whether most lines of a file of before are gone: a change of some of them is not what a generator makes of a file.
func (s *side) rewritten() bool {
	has, left, all := map[string]bool{}, 0, 0
	for line := range strings.Lines(s.text) {
		has[strings.TrimSpace(line)] = true
	}
	for line := range strings.Lines(s.other.text) {
		if line = strings.TrimSpace(line); line != "" {
			all++
			if has[line] {
				left++
			}
		}
	}
	return 2*left < all
}

// typed reports whether TypeScript checks a file. Whether it checks all JavaScript is not known here.
func typed(s *side) bool {
	return !strings.Contains(path.Ext(s.path), "js") || strings.Contains(s.text, "@ts-check")
}

// cancel removes equal suppressions from both lists.
func cancel(has, had []suppression, same func(a, b suppression) bool) (left, gone []suppression) {
	byTool := map[string][]int{}
	used := make([]bool, len(had))
	for i, a := range had {
		byTool[a.tool] = append(byTool[a.tool], i)
	}
	for _, b := range has {
		found := false
		for _, i := range byTool[b.tool] {
			if !used[i] && same(had[i], b) {
				used[i], found = true, true
				break
			}
		}
		if !found {
			left = append(left, b)
		}
	}
	for i, a := range had {
		if !used[i] {
			gone = append(gone, a)
		}
	}
	return left, gone
}

// group is the rule name under which a directive is counted.
func (u suppression) group() string {
	hides := func(part string) bool { return strings.Contains(strings.ToLower(u.tool), part) }
	switch {
	case u.reach != onePlace:
		return "file"
	case slices.ContainsFunc([]string{"cover", "nocov", "istanbul", "c8", "v8", "lcov"}, hides):
		return "coverage"
	case strings.Contains(u.tool, "stryker") || strings.Contains(u.tool, "mutate"):
		return "mutation"
	default:
		return "scoped"
	}
}

// idiom reports whether a directive hides nothing that a check should find: an expected error in a type test,
// the use of one's own deprecated code, or coverage of imports that only a type checker sees.
func (u suppression) idiom() bool {
	name := strings.ToLower(u.side.path)
	return u.tool == "@ts-expect-error" && (u.side.tests || strings.Contains(name, "-d.ts") || strings.Contains(name, "types")) ||
		(u.tool == "allow" || u.tool == "expect") && slices.Equal(u.rules, []string{"deprecated"}) &&
			strings.Contains(u.side.text, "#[deprecated") ||
		strings.HasPrefix(u.tool, "pragma: no") && (strings.Contains(u.code, "TYPE_CHECKING") || u.side.tests)
}

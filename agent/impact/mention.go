package impact

import (
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"touchstone/agent/impact/golang"
	"touchstone/agent/outline"
	"touchstone/verdict"
	"touchstone/worktree/lazyregexp"
)

// mention is a function, type or constant that changed lines, or lines beside them, use.
type mention struct {
	file string // a file of the change
	// of is the qualifier of the name: a package, a type, a value; empty for none. in is the type of that
	// value, as far as the file shows it.
	of, in string
	name   string
	called bool
	line   int // the line number, at the head for added lines and those beside
	rank   int // the kind of lines: one of the constants below
}

// The kinds of lines that mention a name, the most important first.
const (
	addedLine = iota
	besideLine
	removedLine
	testLine   // a line of a test: added, removed or unchanged
	aroundLine // another line of a changed function
	deeperLine // a line of a definition that is shown
)

// maxMentions bounds the names whose definitions are searched for.
const maxMentions = 160

var (
	// trailing matches a comment after code.
	trailing = lazyregexp.New(`\s(?://|#\s).*$`)
	constant = lazyregexp.New(`^[A-Z][A-Z0-9]*_[A-Z0-9_]+$`)
)

// mentions returns what the lines of a file use, each name once.
func mentions(file string, test bool, lines lineChanges) []mention {
	var all []mention
	seen := map[[2]string]bool{}
	for rank, side := range []map[int]string{lines.added, lines.beside, lines.removed, lines.around} {
		switch {
		case test && (rank == besideLine || side == nil):
			continue
		case test:
			rank = testLine
		case rank > removedLine:
			rank = aroundLine
		}
		for _, at := range slices.Sorted(maps.Keys(side)) {
			for _, m := range mentioned(file, side[at]) {
				if rank == removedLine && !m.called {
					continue // a call shows what the line did, a type or a constant does not
				}
				if key := [2]string{m.of, m.name}; !seen[key] && (!test || !typeLike(m.name) || strings.HasSuffix(file, ".go")) {
					seen[key], m.rank, m.line = true, rank, at
					all = append(all, m)
				}
			}
		}
	}
	return all
}

// mentioned returns what one line uses: what it calls, and names written like a type or a constant.
func mentioned(file, line string) []mention {
	if len(line) > maxLine || comment.MatchString(line) || imported(line) {
		return nil
	}
	defines, _ := outline.Begins(file, line)
	line = bare(line)
	var all []mention
	for at := 0; at < len(line); {
		if !wordByte[line[at]] {
			at++
			continue
		}
		end := at
		for end < len(line) && wordByte[line[end]] {
			end++
		}
		name, before, after := line[at:end], line[:at], strings.TrimLeft(line[end:], "?!")
		at = end
		called := strings.HasPrefix(after, "(") || strings.HasPrefix(after, "<") && generic([]byte(after))
		if len(name) < 3 || name[0] <= '9' || statement[name] || name == defines.Name ||
			!called && !typeLike(name) && !constant.MatchString(name) {
			continue
		}
		m := mention{file: file, name: name, called: called}
		for _, dot := range []string{".", "::", "->"} {
			if owner, ok := strings.CutSuffix(before, dot); ok {
				if m.of = lastWord(strings.TrimRight(owner, "?!&")); m.of == "" {
					m.of = "?" // the result of a call
				}
			}
		}
		all = append(all, m)
	}
	return all
}

// bare removes the content of strings and a trailing comment from a line.
func bare(line string) string {
	if strings.ContainsAny(line, "\"'`") {
		line = unquoted(line)
	}
	if strings.Contains(line, "//") || strings.Contains(line, "# ") {
		line = trailing.ReplaceAllString(line, "")
	}
	return line
}

// unquoted empties the strings of a line. A quote without a closing one begins no string.
func unquoted(line string) string {
	var b strings.Builder
	from := 0
	for at, end := range stringsIn(line) {
		b.WriteString(line[from:at] + `""`)
		from = end + 1
	}
	return b.String() + line[from:]
}

// stringsIn yields the strings in a line, by the positions of their quotes.
func stringsIn(line string) iter.Seq2[int, int] {
	return func(yield func(at, end int) bool) {
		for at := 0; at < len(line); at++ {
			end := closing(line, at)
			if end > 0 && !yield(at, end) {
				return
			}
			at = max(at, end)
		}
	}
}

// closing returns the end of the string that begins at a position of a line; 0 if no string begins there.
func closing(line string, at int) int {
	quote := line[at]
	if quote != '"' && quote != '\'' && quote != '`' {
		return 0
	}
	for end := at + 1; end < len(line); end++ {
		switch {
		case line[end] == quote:
			return end
		case line[end] == '\\' && quote != '`':
			end++
		}
	}
	return 0
}

// typeLike reports whether a name is written like a type in most languages.
func typeLike(name string) bool {
	return name != "" && 'A' <= name[0] && name[0] <= 'Z' && strings.ContainsFunc(name, func(r rune) bool { return 'a' <= r && r <= 'z' })
}

// statement are words before a parenthesis that are not calls.
var statement = set(`if for while switch return catch func function def fn new throw sizeof typeof match when unless
	elif elsif until with not and await yield
	super this self string int len append make cap panic print println range isinstance String Error None True False Some Vec Box Option
	Result Ok Err Self Object Integer Boolean List Map Set Promise Array
	open type sorted enumerate zip map filter any all min max sum set dict tuple list bool float bytes repr hasattr getattr setattr
	issubclass iter next super`)

// everyday are methods of standard libraries: a value on which they are called is hardly ever of the one type
// here with a method of that name.
var everyday = set(`is_none is_some is_ok is_err is_empty as_bytes as_ref as_mut as_str as_path as_slice to_string to_owned to_path_buf
		into_iter iter_mut starts_with ends_with
	unwrap_or unwrap_or_else unwrap_or_default ok_or map_err and_then or_else to_vec push_str with_capacity file_name is_dir is_file from_utf8
	push pop insert remove append extend clear keys values items get put add len size join split strip trim replace format lower upper
		toString equals hashCode valueOf
	forEach then catch includes indexOf slice splice concat flatMap reduce find some every startsWith endsWith toLowerCase toUpperCase
		hasOwnProperty
	each select reject inject collect first last to_s to_sym to_a to_h to_i nil? empty? any? contains isEmpty stream close flush write read`)

// maxValues bounds the values whose types are looked up in one file, each of which takes a search in all of it.
const maxValues = 4000

// values tells the types of the values in a file, each of which it looks up once.
type values struct {
	file, text string
	types      map[string]string
}

func valuesOf(file, text string) values { return values{file, text, map[string]string{}} }

func (v values) typeOf(value string) string {
	is, known := v.types[value]
	if !known && len(v.types) < maxValues {
		is = typeOf(value, v.file, v.text)
		v.types[value] = is
	}
	return is
}

// typeOf returns the type of a value as far as the text of its file shows it: at its declaration, or at a
// constructor. It is empty if there are several, and for a value in another encoding than UTF-8, which no expression
// can match.
func typeOf(value, file, text string) string {
	if value == "" || value == "?" || !utf8.ValidString(value) || len(value) < 2 && !strings.Contains(text, value+" *") {
		return ""
	}
	pattern := `\b` + regexp.QuoteMeta(value) +
		`\s*(?::=|=|:|\s)\s*[&*\[\]]*(?:new\s+|await\s+|mut\s+)?\(?(?:\w+(?:\.|::))?([A-Z]\w*[a-z]\w*)|\(` + regexp.QuoteMeta(value) +
		`\s+\*?(\w+)\)`
	if implicit(file) { // these languages write the type first
		pattern += `|\b([A-Z]\w*[a-z]\w*)(?:<[^<>;(]*>)?[?&*]?\s+` + regexp.QuoteMeta(value) + `\b`
	}
	typed := regexp.MustCompile(pattern)
	found := ""
	for range 40 {
		ahead, rest, ok := strings.Cut(text, value)
		if !ok {
			break
		}
		rest, after, _ := strings.Cut(rest, "\n")
		line := ahead[strings.LastIndexByte(ahead, '\n')+1:] + value + rest
		if text = after; len(line) > maxLine || comment.MatchString(line) {
			continue
		}
		m := typed.FindStringSubmatch(bare(line))
		if m == nil {
			continue
		}
		if is := strings.Join(m[1:], ""); found == "" {
			found = is
		} else if found != is {
			return ""
		}
	}
	return found
}

// Import is a line by which a changed file gets a name that changed lines use.
type Import struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

const (
	// maxImports bounds the imports shown of one file, importLines the lines of one import.
	maxImports  = 12
	importLines = 30
)

// imports returns the imports of a file that changed lines use.
func imports(file, text string, lines lineChanges) []Import {
	used := map[string]bool{}
	for _, side := range []map[int]string{lines.added, lines.removed, lines.beside} {
		for _, line := range side {
			if !imported(line) && !importPath.MatchString(line) {
				for _, w := range parts(line) {
					used[w] = true
				}
			}
		}
	}
	var all []Import
	ofGo := strings.HasSuffix(file, ".go")
	block := false // within Go's import block
	rows := strings.SplitN(text, "\n", 400)
	for i := 0; i < len(rows) && i < 399 && len(all) < maxImports; i++ {
		row, start := rows[i], i
		switch {
		case ofGo && strings.HasPrefix(row, "import ("):
			block = true
			continue
		case ofGo && block:
			if block = !strings.HasPrefix(row, ")"); !block || !importPath.MatchString(row) {
				continue
			}
		case len(row) > maxLine || !imported(row) || strings.HasSuffix(file, ".rs") && row[0] == ' ':
			continue
		default:
			for open(row) && i+1 < len(rows) && i-start < importLines {
				i++
				row = strings.TrimRight(row, " \t\r") + " " + strings.TrimSpace(rows[i])
			}
		}
		names := bound(row, ofGo)
		if _, added := lines.added[start+1]; added || !slices.ContainsFunc(names, func(name string) bool { return used[name] }) ||
			ofGo && standard.MatchString(row) || plainImport.MatchString(row) {
			continue
		}
		row = verdict.OneLine(row)
		if at := strings.IndexAny(row, "({"); i > start && at > 0 {
			names = slices.DeleteFunc(names, func(name string) bool { return !used[name] })
			end := max(strings.LastIndexAny(row, ")}"), at+1)
			row = row[:at+1] + " " + strings.Join(names, ", ") + " …" + row[min(end, len(row)):]
		}
		all = append(all, Import{Path: file, Line: start + 1, Text: verdict.Clip(row, maxText)})
	}
	return all
}

// open reports whether an import continues on the next line.
func open(row string) bool {
	return strings.Count(row, "(") > strings.Count(row, ")") || strings.Count(row, "{") > strings.Count(row, "}")
}

// bound returns the names that an import introduces.
func bound(row string, ofGo bool) []string {
	if !ofGo {
		if _, names, ok := strings.Cut(row, " import "); ok && strings.HasPrefix(strings.TrimSpace(row), "from ") {
			return parts(names) // Python
		}
		return parts(unquoted(row))
	}
	fields := strings.Fields(strings.TrimPrefix(row, "import "))
	if len(fields) > 1 {
		return fields[:1]
	}
	if len(fields) == 0 {
		return nil
	}
	return parts(golang.PackageName(strings.Trim(fields[0], `"`)))
}

// plainImport matches an import of a Python module that is used by its own name, which is not worth showing.
var plainImport = lazyregexp.New(`^import [\w.]+$`)

// standard matches Go packages whose names alone say enough.
var standard = lazyregexp.New(`^(?:import\s+)?\s*"(?:\w+|(?:net|os|io|path|encoding|go)/[\w/]+)"\s*$`)

var version = lazyregexp.New(`^v\d+$`)

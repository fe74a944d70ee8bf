package guardtest

import (
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// languages are the lexers for the languages whose files are respelled, by extension.
var languages = map[string]string{
	".go": "Go", ".py": "Python", ".js": "JavaScript", ".mjs": "JavaScript", ".ts": "TypeScript", ".tsx": "TypeScript", ".java": "Java",
	".kt": "Kotlin", ".rs": "Rust", ".rb": "Ruby", ".cs": "C#",
}

// source is a file as tokens.
type source struct {
	ext    string
	tokens []chroma.Token
}

// tokenize reads a file and joins the tokens that form one string.
func tokenize(name string, text []byte) *source {
	lexer := lexers.Get(languages[ext(name)])
	if languages[ext(name)] == "" || lexer == nil {
		return nil
	}
	all, err := chroma.Tokenise(lexer, &chroma.TokeniseOptions{State: "root"}, string(text))
	if err != nil || chroma.Stringify(all...) != string(text) {
		return nil
	}
	s := &source{ext: ext(name)}
	for _, t := range all {
		last := len(s.tokens) - 1
		if last >= 0 && t.Type.InSubCategory(chroma.LiteralString) && s.tokens[last].Type.InSubCategory(chroma.LiteralString) {
			s.tokens[last].Value += t.Value
			continue
		}
		s.tokens = append(s.tokens, t)
	}
	return s
}

func isString(t chroma.Token) bool  { return t.Type.InSubCategory(chroma.LiteralString) }
func isComment(t chroma.Token) bool { return t.Type.InCategory(chroma.Comment) }

// edit writes a file with each code token replaced; strings and comments stay.
func (s *source) edit(replace func(i int, value string) string) string {
	var b strings.Builder
	for i, t := range s.tokens {
		if isString(t) || isComment(t) {
			b.WriteString(t.Value)
			continue
		}
		b.WriteString(replace(i, t.Value))
	}
	return b.String()
}

// hasComments reports whether there is a comment, which could be a directive.
func (s *source) hasComments() bool { return slices.ContainsFunc(s.tokens, isComment) }

// longStrings reports whether a string spans several lines.
func (s *source) longStrings() bool {
	return slices.ContainsFunc(s.tokens, func(t chroma.Token) bool { return isString(t) && strings.Contains(t.Value, "\n") })
}

func codeSpellings() []Spelling {
	of := func(name string, extensions string, write func(s *source) string) Spelling {
		return Spelling{name, strings.Fields(extensions), func(file string, text []byte) []byte {
			s := tokenize(file, text)
			if s == nil {
				return nil
			}
			return []byte(write(s))
		}}
	}
	return []Spelling{
		of("code indented twice as deep", ".py .js .mjs .ts .tsx .java .kt .rs .rb .cs", func(s *source) string {
			return s.edit(func(_ int, value string) string { return margin.ReplaceAllString(value, "\n$1$1") })
		}),
		of("code with other quotes", ".py .js .mjs .ts .tsx", (*source).otherQuotes),
		of("code with arguments on lines of their own", ".go .py .js .mjs .ts .tsx .java .kt .rs .rb .cs", (*source).wrapped),
		of("code with arguments in one line", ".py .js .mjs .ts .tsx .java .kt .rs .rb .cs", (*source).unwrapped),
		of("code with braces on lines of their own", ".java .cs .rs", func(s *source) string {
			if s.longStrings() {
				return ""
			}
			return strings.ReplaceAll(chroma.Stringify(s.tokens...), " {\n", "\n{\n")
		}),
		of("code with marks on the line of what they mark", ".java .kt .cs .rs", (*source).joinMarks),
		of("code with comments", "", (*source).noted),
		of("code with blank lines", "", func(s *source) string {
			if s.hasComments() {
				return ""
			}
			return s.edit(func(_ int, value string) string { return strings.ReplaceAll(value, "\n", "\n\n") })
		}),
	}
}

var margin = regexp.MustCompile(`\n([ \t]+)`)

func (s *source) otherQuotes() string {
	var b strings.Builder
	for i, t := range s.tokens {
		v := t.Value
		if isString(t) && len(v) > 2 && (v[0] == '"' || v[0] == '\'') && v[0] == v[len(v)-1] && !strings.ContainsAny(v[1:len(v)-1], "\\\"'\n`") {
			other := map[byte]string{'"': "'", '\'': `"`}[v[0]]
			if i == 0 || !isString(s.tokens[i-1]) {
				v = other + v[1:len(v)-1] + other
			}
		}
		b.WriteString(v)
	}
	return b.String()
}

// brackets tracks the open brackets over the tokens of a file.
type brackets []byte

func (o *brackets) read(value string) {
	for i := range len(value) {
		switch c := value[i]; c {
		case '(', '[', '{':
			*o = append(*o, c)
		case ')', ']', '}':
			if len(*o) > 0 {
				*o = (*o)[:len(*o)-1]
			}
		}
	}
}

// inCall reports whether the innermost open bracket is a round one.
func (o brackets) inCall() bool { return len(o) > 0 && o[len(o)-1] == '(' }

// comment reports whether there is a comment on the lines around a token.
func (s *source) comment(i int) bool {
	ends := func(t chroma.Token) bool { return !isString(t) && strings.Contains(t.Value, "\n") }
	first, last := max(i-1, 0), i
	for first > 0 && !ends(s.tokens[first]) {
		first--
	}
	for last < len(s.tokens)-1 && !ends(s.tokens[last]) {
		last++
	}
	return slices.ContainsFunc(s.tokens[first:last+1], isComment)
}

// wrapped begins a new line after each bracket and comma of a call.
func (s *source) wrapped() string {
	var open brackets
	return s.edit(func(i int, value string) string {
		var b strings.Builder
		for j := range len(value) {
			c := value[j]
			open.read(value[j : j+1])
			b.WriteByte(c)
			next := ""
			if j+1 < len(value) {
				next = value[j+1:]
			} else if i+1 < len(s.tokens) {
				next = s.tokens[i+1].Value
			}
			if (c == '(' || c == ',') && open.inCall() && !s.comment(i) && !strings.HasPrefix(strings.TrimLeft(next, " \t"), "\n") &&
				!strings.HasPrefix(next, ")") {
				b.WriteString("\n        ")
			}
		}
		return b.String()
	})
}

// unwrapped writes the content of round brackets on one line.
func (s *source) unwrapped() string {
	var open brackets
	return s.edit(func(i int, value string) string {
		var b strings.Builder
		for j := 0; j < len(value); j++ {
			open.read(value[j : j+1])
			if value[j] != '\n' || !open.inCall() || s.comment(i) {
				b.WriteByte(value[j])
				continue
			}
			for j+1 < len(value) && strings.IndexByte(" \t\n", value[j+1]) >= 0 {
				j++
			}
			if !strings.HasSuffix(b.String(), "(") && (b.Len() > 0 || i == 0 || !strings.HasSuffix(s.tokens[i-1].Value, "(")) {
				b.WriteByte(' ')
			}
		}
		return b.String()
	})
}

// markLine matches an annotation or attribute on its own line.
var markLine = regexp.MustCompile(`(?m)^([ \t]*(?:@[\w.]+(?:\([^()\n]*\))?|#?\[[^\]\n]*\]))\n[ \t]*(\S)`)

// joinMarks moves annotations and attributes to the line that they mark.
func (s *source) joinMarks() string {
	text := chroma.Stringify(s.tokens...)
	if s.ext == ".cs" && strings.Contains(text, "\n#") { // a directive needs its own line
		return ""
	}
	for {
		next := markLine.ReplaceAllString(text, "$1 $2")
		if next == text || s.longStrings() {
			return text
		}
		text = next
	}
}

// noted adds a comment above the first line, and above what begins after a blank line.
func (s *source) noted() string {
	sign := "// "
	if s.ext == ".py" || s.ext == ".rb" {
		sign = "# "
	}
	var open brackets
	text := s.edit(func(i int, value string) string {
		open.read(value)
		next := i + 1
		if len(open) > 0 || next < len(s.tokens) && (isComment(s.tokens[next]) || isString(s.tokens[next])) {
			return value
		}
		if next < len(s.tokens) && strings.HasSuffix(value, "\n\n") && !strings.HasPrefix(s.tokens[next].Value, " ") {
			return value + sign + note + "\n"
		}
		return value
	})
	if strings.HasPrefix(text, "#!") || s.hasComments() {
		return text
	}
	return sign + note + "\n\n" + text
}

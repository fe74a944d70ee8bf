package impact

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"touchstone/verdict"
	"touchstone/worktree/filekind"
	"touchstone/worktree/lazyregexp"
)

// maxRoles bounds the names of one word that are followed.
const maxRoles = 16

// roles takes out of the names those of one word that cannot be followed.
func (c *changed) roles() {
	named, left := map[string]bool{}, maxRoles
	for _, n := range c.names {
		named[n.Name] = named[n.Name] || n.word == ""
	}
	c.names = slices.DeleteFunc(c.names, func(n Name) bool {
		switch {
		case n.word == "":
			return false
		case named[n.Name]:
			return true
		case n.meansMuch():
			if n.How == Removed {
				c.common = append(c.common, n)
			}
			return true
		case left == 0:
			c.untold++
			return true
		}
		left--
		return false
	})
}

// meansMuch reports whether a name of one word means something else in most places.
func (n Name) meansMuch() bool {
	switch n.Kind {
	case "flag":
		return n.word == "help" || n.word == "version" // each program has them
	case "variable":
		return ofSystems[n.word]
	case "topic":
		return everywhere[strings.ToLower(n.word)] || onScreen.MatchString(n.word)
	}
	return n.vagueness() > 0 && n.Kind != "column" && everywhere[strings.ToLower(n.word)]
}

// unfollowed says which names of one word are not followed.
func (c *changed) unfollowed() (all []string) {
	if len(c.common) > 0 {
		all = append(all, tooCommon(c.common))
	}
	if c.untold > 0 {
		all = append(all, fmt.Sprintf("%s not looked up.", verdict.Amount(c.untold, "more name of one word is", "more names of one word are")))
	}
	return all
}

// tooCommon says that these names are not followed.
func tooCommon(names []Name) string {
	var titles []string
	for _, n := range names {
		titles = append(titles, n.title())
	}
	return "Too common to be followed: " + verdict.Clip(strings.Join(titles, ", "), 200) + "."
}

// vagueness is higher for a name that others can have by chance.
func (n Name) vagueness() int {
	if n.word == "" || n.Kind == "flag" {
		return 0
	}
	return 1
}

// roleOf is a place at which a name of one word stands in its line.
type roleOf struct {
	*Name
	file, kind, line string
	before, after    string
}

var (
	// settled matches a value that holds settings, before a dot.
	settled = lazyregexp.New(`(?i)(?:^|\W)(?:\w*(?:conf|cfg|config(?:uration)?|settings?|preferences)` +
		`|opts|options|values|props|env)(?:\(\))?\??\.$`)
	sql = lazyregexp.New(`(?i)\b(?:select|insert\s+into|update|where|(?:order|group)\s+by` +
		`|returning|from|join|set|on|values|index)\b`)
	// keyed matches the text before the key of a line.
	keyed = lazyregexp.New(`^\s*(?:-\s+|export\s+|ENV\s+|ARG\s+)?["']?$`)
)

// plays says what a line does with a name of one word, if it is in its role there.
func (n *Name) plays(file, kind, line string) (what string, rank int) {
	if len(line) > maxLine {
		return "", 0
	}
	for at := range occurrences(line, n.word) {
		r := roleOf{n, file, kind, line, line[:at], line[at+len(n.word):]}
		if what, rank = r.what(); rank > 0 {
			return what, rank
		}
	}
	return "", 0
}

func (r roleOf) what() (string, int) {
	names := map[string]string{"": "names", "test": "names", "document": "document", "CI": "CI", "configuration": "configuration"}[r.kind]
	code := names == "names"
	said := code && comment.MatchString(r.line)
	if said {
		names = "comment"
	}
	switch r.Kind {
	case "flag":
		return names, r.flag(code)
	case "column":
		if !said {
			return names, r.column(code)
		}
	case "variable":
		if b := last(r.before); b == '$' || strings.HasSuffix(r.before, "${") || strings.HasSuffix(r.before, "env.") ||
			strings.HasSuffix(r.before, "ENV.") || r.quoted() || keyed.MatchString(r.before) && first(r.after) == '=' ||
			r.kind == "configuration" && r.key() {
			return names, 6
		}
	case "topic", "metric", "setting":
		if !said {
			return names, r.said(code)
		}
	}
	return "", 0
}

// quoted reports whether the word is all of a string, the first part of a tag, or a symbol.
func (r roleOf) quoted() bool {
	b, a := last(r.before), first(r.after)
	switch language := filekind.LanguageOf(r.file); {
	case (b == '"' || b == '\'' || b == '`') && a == b:
		return true
	case b == '"' && a == ',' && strings.HasSuffix(r.before, `:"`):
		return true
	default:
		symbols := language == filekind.Ruby || language == filekind.Elixir // they write :word in place of a string
		return symbols && b == ':' && a != '?' && a != '!' && !strings.HasSuffix(r.before, "::")
	}
}

// key reports whether the word is the key of its line.
func (r roleOf) key() bool {
	after := strings.TrimLeft(r.after, `"' `)
	return keyed.MatchString(r.before) && (first(after) == ':' || first(after) == '=' && !strings.HasPrefix(after, "=="))
}

// flag says how useful a place is that has the word with dashes before it, or asks for the flag by its name.
func (r roleOf) flag(code bool) int {
	if a := first(r.after); a == '-' && len(r.after) > 1 && wordByte[r.after[1]] {
		return 0 // a longer flag
	}
	dashes := len(r.before) - len(strings.TrimRight(r.before, "-"))
	ahead := last(r.before[:len(r.before)-dashes])
	switch {
	case ahead != 0 && (wordByte[ahead] || ahead == '!'):
	case dashes == 2, dashes == 1 && strings.HasSuffix(r.Path, ".go") && strings.IndexByte(" `\"'([", ahead) >= 0:
		return 8
	case code && r.quoted() && family(r.file) == family(r.Path):
		if name, of, number := callOf(strings.TrimRight(r.before, "\"'`")); number == 0 && lookups[name] && strings.HasSuffix(of, ".") {
			return 6
		}
	}
	return 0
}

// column says how useful a place is that reads or writes a column.
func (r roleOf) column(code bool) int {
	if strings.Contains(strings.ToLower(r.file), "migrat") {
		return 0 // what earlier migrations did stays as it is
	}
	if strings.EqualFold(path.Ext(r.file), ".sql") {
		return 8
	}
	if !code {
		return 0
	}
	of := strings.ToLower(lastWord(strings.TrimSuffix(r.before, ".")))
	table := strings.ToLower(r.In)
	switch {
	case sql.MatchString(r.before) && strings.Count(r.before, `"`)+strings.Count(r.before, "'")+strings.Count(r.before, "`") > 0:
		return 7
	case strings.HasSuffix(r.before, ".") && (of == table || of == strings.TrimSuffix(table, "s")):
		return 6
	case r.quoted():
		return 4
	}
	return 0
}

// said says how useful a place is that has a topic, a metric or a setting as a string, a key or an attribute.
func (r roleOf) said(code bool) int {
	if !code {
		switch r.kind {
		case "document":
			if b := last(r.before); b == '`' && first(r.after) == '`' {
				return 4
			}
		case "configuration":
			if r.Kind == "setting" && r.key() && family(r.file) == family(r.Path) && variant(r.file) == variant(r.Path) {
				return 5
			}
			if r.Kind != "setting" && (r.quoted() || r.Kind == "metric" && strings.IndexByte("[{", first(r.after)) >= 0 && r.after != "") {
				return 5
			}
		}
		if r.Kind == "setting" && (strings.HasSuffix(r.before, ".Values.") || strings.HasSuffix(r.before, "{{ ") && r.after != "") {
			return 4
		}
		return 0
	}
	call, _, number := callOf(strings.TrimRight(r.before, "\"'`:"))
	a, takes := callers[call]
	switch quoted := r.quoted(); {
	case quoted && takes && number <= a.most && a.kind == r.Kind:
		return 8
	case quoted && r.Kind == "setting":
		return r.asked(call, number)
	case quoted && last(strings.TrimRight(r.before, "\"'`")) != '[' && !literalKey.MatchString(r.after):
		return 4
	case r.Kind == "setting" && settled.MatchString(r.before) && first(r.after) != '(':
		return 6
	}
	return 0
}

// literalKey matches the text after a key in a literal.
var literalKey = lazyregexp.New("^[\"'`]\\s*(?::|=>)")

// getters are what the names of calls that ask for a value by its key begin with.
var getters = strings.Fields("get fetch dig has read lookup value key pop set require optional property config isset contains " +
	"int bool string float duration")

// asked says how useful a place is that has a setting as a string: as the key of a literal, of a tag, between
// brackets, or for a call that gets it.
func (r roleOf) asked(call string, number int) int {
	gets := slices.ContainsFunc(getters, func(prefix string) bool { return strings.HasPrefix(call, prefix) })
	of, within := strings.CutSuffix(r.before[:len(r.before)-1], "[")
	switch {
	case within && of != "" && (wordByte[last(of)] || strings.IndexByte(")]?.", last(of)) >= 0), strings.HasSuffix(r.before, `:"`),
		gets && (number == 0 || call == "dig"):
		return 7
	case literalKey.MatchString(r.after):
		return 4
	}
	return 0
}

// variant returns what the names of the variants of a file of settings have in common, such as config of
// config.example.yml.
func variant(file string) string {
	name, _, _ := strings.Cut(strings.TrimLeft(path.Base(file), "."), ".")
	return name
}

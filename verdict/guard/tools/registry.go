package tools

import (
	"embed"
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

//go:embed settings
var settings embed.FS

// registry has the content of the files in settings, one for each tool or family of tools:
//
//	tool NAME [nearest] [leaves] [prefixes] [scope=KEY] [named=KEY] [comes=WITH] [rival=WITH]   see [Tool]
//	in FILE… [: WITHIN…]                 the files that it reads, and its parts of them, "-" for the whole
//	WAY KEYS… [default=] [implied=] [beside=] [only=]   see [Way] and [Setting]
//	alias OLD>NEW…                       other names of rules; NEW is empty for one that upstream removed
//
// A line in another form is a mistake in those files: the program does not start.
var registry = func() (all []*Tool) {
	_ = fs.WalkDir(settings, "settings", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := settings.ReadFile(name)
		for line := range strings.Lines(string(text)) {
			if fields := strings.Fields(line); len(fields) > 1 && fields[0] != "#" {
				all = declare(all, fields[0], fields[1:])
			}
		}
		return err
	})
	return all
}()

// declare adds the content of one line to the last tool.
func declare(all []*Tool, word string, fields []string) []*Tool {
	if word == "tool" {
		t := &Tool{Name: fields[0], Aliases: map[string]string{}, Plain: plains[fields[0]], Runs: runs[fields[0]]}
		comes := `(?:\b|_)` + regexp.QuoteMeta(t.Name) + `(?:\b|_)`
		for _, option := range fields[1:] {
			t.Nearest, t.Leaves = t.Nearest || option == "nearest", t.Leaves || option == "leaves"
			t.Prefixes = t.Prefixes || option == "prefixes"
			if key, scoped := strings.CutPrefix(option, "scope="); scoped {
				t.Scope = key
			}
			if key, named := strings.CutPrefix(option, "named="); named {
				t.Named = key
			}
			if with, given := strings.CutPrefix(option, "comes="); given {
				comes = with
			}
			if with, given := strings.CutPrefix(option, "rival="); given {
				t.Rival = regexp.MustCompile(with)
			}
		}
		t.Comes = regexp.MustCompile("(?i)" + comes)
		return append(all, t)
	}
	t := all[len(all)-1]
	switch word {
	case "in":
		s := source{files: fields, within: [][]string{nil}}
		if i := slices.Index(fields, ":"); i > 0 {
			s.files, s.within = fields[:i], nil
			for _, keys := range fields[i+1:] {
				s.within = append(s.within, slices.DeleteFunc(strings.Split(keys, "/"), func(key string) bool { return key == "-" }))
			}
		}
		t.Sources = append(t.Sources, s)
	case "alias":
		for _, field := range fields {
			old, now, _ := strings.Cut(field, ">")
			t.Aliases[old] = now
		}
	default:
		t.Settings = append(t.Settings, settingsOf(word, fields)...)
	}
	return all
}

var ways = strings.Fields("floor ceiling on off grade rules ignored excluded included uncounted skipped omitted")

// settingsOf returns the settings of one line, which differ only in their keys.
func settingsOf(way string, fields []string) (all []Setting) {
	like, keys := Setting{Way: Way(slices.Index(ways, way))}, []string{}
	if like.Way < 0 {
		panic("no way of settings is called " + way)
	}
	for _, field := range fields {
		switch name, value, option := strings.Cut(field, "="); {
		case !option:
			keys = append(keys, field)
		case name == "default":
			like.Default = value
		case name == "implied":
			like.Implied = value
		case name == "beside":
			like.Beside = value
		case name == "only":
			like.Only = chosen(value)
		default:
			panic("no option of settings is called " + name)
		}
	}
	for _, pattern := range keys {
		like.Keys = strings.Split(pattern, "/")
		all = append(all, like)
	}
	return all
}

// chosen selects the elements of a list that count: by a name in [choices], "^A,B" for those that begin with
// A or B, "=A,B" for A and B themselves, and "!A" for all except A.
func chosen(by string) func(element string) bool {
	if choice := choices[by]; choice != nil {
		return choice
	}
	words := strings.Split(by[1:], ",")
	switch by[0] {
	case '^':
		return func(s string) bool {
			return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(s, w) })
		}
	case '=':
		return func(s string) bool { return slices.Contains(words, s) }
	case '!':
		return func(s string) bool { return !slices.Contains(words, s) }
	}
	panic("no choice of elements is called " + by)
}

package guard

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// uncollecting are the ways in which a conftest.py keeps pytest from running tests
// that it finds. See https://docs.pytest.org/en/stable/reference/reference.html#collection-hooks
var uncollecting = regexp.MustCompile(`^collect_ignore(?:_glob)?\b|\bcollect_ignore(?:_glob)?\.(?:append|extend)\(|\bdef pytest_ignore_collect\b|\bitems\[:\]\s*=|\bitems\.(?:clear|remove|pop)\(|\bdel items\b|\bpytest_deselected\b|\bmark\.(?:skip|skipif|xfail)\b|\bpytest\.(?:skip|exit)\(`)

// uncollected finds lines of a conftest.py that are new and take tests of other
// files out of the run.
func uncollected(f *file) []Hit {
	if f.new.base() != "conftest.py" {
		return nil
	}
	had := map[string]bool{}
	for i := range f.old.lines {
		had[f.old.at(i+1)] = true
	}
	for i := range f.new.lines {
		text := f.new.at(i + 1)
		if at := uncollecting.FindStringIndex(text); at != nil && !had[text] && text[0] != '#' && !quoted(text, at[0]) {
			return []Hit{{Test, f.path(), i + 1, "", text, "Tests are taken out of the run for all files below."}}
		}
	}
	return nil
}

var testModule = regexp.MustCompile(`^(?:pub )?mod (\w*tests?)(?:;|$)`)

// unlinked finds Rust modules of tests that no file names any more, so that they are
// not compiled, although their own file is still there.
func unlinked(p *patch, f *file) []Hit {
	if languageOf(f.new.path) != rust {
		return nil
	}
	for i := range f.old.lines {
		m := testModule.FindStringSubmatch(f.old.at(i + 1))
		if m == nil || slices.ContainsFunc(f.new.lines, func(l string) bool { return strings.Contains(l, "mod "+m[1]) }) {
			continue
		}
		if !slices.ContainsFunc(p.files, func(o *file) bool {
			return o.old.path != o.new.path && strings.HasSuffix(stemPath(o.old.path), "/"+m[1])
		}) {
			return []Hit{{Test, f.path(), i + 1, f.old.at(i + 1), "", "The module " + m[1] + " is no longer compiled, and its tests no longer run."}}
		}
	}
	return nil
}

// stemPath is a path without the end that says that it is a Rust module.
func stemPath(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, ".rs"), "/mod")
}

var (
	mainParameter = regexp.MustCompile(`^func TestMain\((\w+) \*testing\.M\)`)
	ending        = regexp.MustCompile(`^\t(?:os\.Exit\(\d+\)|return)$`)
)

// emptyMain finds a TestMain of Go that is new, or was changed, and runs no test:
// it does nothing with its parameter, or ends before it does.
func emptyMain(f *file) []Hit {
	runs := func(s side) (line int, there, ok bool) {
		for i, text := range s.lines {
			m := mainParameter.FindStringSubmatch(text)
			if m == nil {
				continue
			}
			uses := regexp.MustCompile(`\b` + m[1] + `\b`)
			for _, body := range s.lines[i+1 : stopOf(s.lines, i+1)] {
				switch {
				case strings.HasPrefix(strings.TrimSpace(body), "//"):
				case uses.MatchString(body):
					return i + 1, true, !unminded(s.lines[i+1:stopOf(s.lines, i+1)], m[1])
				case ending.MatchString(body):
					return i + 1, true, false
				}
			}
			_, body, _ := strings.Cut(text, "{")
			return i + 1, true, uses.MatchString(body)
		}
		return 0, false, false
	}
	line, there, ok := runs(f.new)
	if _, before, ran := runs(f.old); !isTest(f.new.path) || !there || ok || before && !ran {
		return nil
	}
	return []Hit{{Test, f.path(), line, "", f.new.at(line), "TestMain runs none of the package's tests."}}
}

// unminded reports whether a TestMain drops how the tests ended and ends otherwise.
func unminded(body []string, m string) bool {
	dropped, exits := false, false
	for _, line := range body {
		text := strings.TrimSpace(line)
		dropped = dropped || text == m+".Run()" || strings.HasPrefix(text, "_ = "+m+".Run()") || strings.HasPrefix(text, "defer "+m+".Run()")
		exits = exits || wellEnding.MatchString(text)
	}
	overwritten := slices.ContainsFunc(body, wellCode.MatchString)
	return dropped && exits || exits && !slices.ContainsFunc(body, func(l string) bool { return strings.Contains(l, "os.Exit("+m+".Run())") || exitCode.MatchString(l) }) || overwritten
}

var (
	wellEnding = regexp.MustCompile(`\bos\.Exit\(`)
	exitCode   = regexp.MustCompile(`\bos\.Exit\([a-z]`)
	wellCode   = regexp.MustCompile(`^\t*\w*(?:code|status|exit|rc|ret)\w* = 0$`)
)

// confined finds Go tests that by their file's new name are built for one system
// only, although no code went the same way, and Java tests that are not found by it.
func confined(p *patch, m *pairing) []Hit {
	var hits []Hit
	seen := map[*file]bool{}
	for _, b := range m.before {
		a := m.now[b]
		if a == nil || seen[a.f] {
			continue
		}
		if languageOf(a.s.path) == java && surefireName.MatchString(b.s.path) && !surefireName.MatchString(a.s.path) {
			seen[a.f] = true
			hits = append(hits, Hit{Test, a.f.path(), a.start, b.s.at(b.start), a.s.at(a.start), "By the file's new name its tests are not found."})
		}
		if languageOf(a.s.path) != golang {
			continue
		}
		suffix := platformOf(a.s.path)
		along := slices.ContainsFunc(p.files, func(f *file) bool {
			return languageOf(f.new.path) == golang && !isTest(f.new.path) && f.old.path != f.new.path &&
				path.Dir(f.new.path) == path.Dir(a.s.path) && platformOf(f.new.path) == suffix
		})
		if suffix != "" && suffix != platformOf(b.s.path) && !along {
			seen[a.f] = true
			hits = append(hits, Hit{Test, a.f.path(), a.start, b.s.at(b.start), a.s.at(a.start), "The file's name confines its tests to one system."})
		}
	}
	return hits
}

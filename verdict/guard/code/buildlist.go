package code

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"

	"touchstone/verdict/guard/change"
)

var (
	// listing matches the names of files that list the tests of a build.
	listing = regexp.MustCompile(
		`(?:^|/)(?:CMakeLists\.txt|meson\.build|BUILD(?:\.bazel)?|Makefile|Package\.swift|[^/]+\.(?:cmake|bzl))$`)
	// compiled matches the name of a test's source in a list of what is compiled, and globs what may stand for such names.
	compiled = regexp.MustCompile(`(?i)[\w.+-]*test[\w.+-]*\.(?:c|cc|cpp|cxx|m|mm|cu|f90|rs)\b`)
	globs    = regexp.MustCompile(`\bGLOB(?:_RECURSE)?\b|\bglob\(`)
	// borrowed matches folders of third-party code that is built from source.
	borrowed = regexp.MustCompile(`(?:deps|external|extern|third|3rd|contrib|subprojects).*/`)
	// disables matches a property of CTest that keeps a test from running or failing.
	disables = regexp.MustCompile(`(?i)^set_(?:tests_properties|property)\s*\(\s*(?:TEST\s+)?([\w.-]+)\b.*` +
		`\b(DISABLED|WILL_FAIL)\s+(?:TRUE|ON|1)\b`)
)

// compareLists finds tests that a build no longer has: their line became a comment, a property disables them, or their
// source is there and is no longer compiled. A test that the change deletes is not listed any more either.
func (x *examination) compareLists(files []change.File) {
	gone, has := map[string]bool{}, map[string]bool{}
	var builds []change.File
	for _, f := range files {
		if f.OldPath != f.Path {
			gone[path.Base(f.OldPath)] = true
		}
		if listing.MatchString(f.Name()) && !bytes.Equal(f.Before, f.After) {
			builds = append(builds, f)
			for _, name := range compiled.FindAllString(strings.Join(active(f.After, "#"), "\n"), -1) {
				has[name] = true
			}
		}
	}
	for _, f := range builds {
		if f.OldPath != "" && f.Path != "" && !borrowed.MatchString(f.Path) {
			x.compareList(f, gone, has)
		}
	}
}

// active are the lines of a list, each up to a mark, without the space around them.
func active(content []byte, mark string) (lines []string) {
	for line := range strings.SplitSeq(string(content), "\n") {
		text, _, _ := strings.Cut(line, mark)
		lines = append(lines, strings.TrimSpace(text))
	}
	return lines
}

// compareList examines one list. Gone are the names of files that are no longer there; has are the names that all
// lists have now, or about which there is a finding.
func (x *examination) compareList(f change.File, gone, has map[string]bool) {
	before, after, old := active(f.Before, "#"), active(f.After, "#"), active(f.Before, "\n")
	say := func(line int, effect, why string, at change.Place) {
		at.Path, at.Line = f.Path, line
		x.say(change.Hold, change.Test, "test/"+effect, why, at)
	}
	for i, line := range active(f.After, "\n") {
		text := active([]byte(strings.TrimLeft(line, "#/ \t")), "#")[0]
		word := strings.Trim(text, `"',()\`)
		at, property := change.Place{After: line}, disables.FindStringSubmatch(line)
		switch {
		case strings.HasPrefix(line, text) && property == nil, slices.Contains(old, line):
		case property == nil:
			tests := languageOf(word) != nil && isTestPath(path.Join(path.Dir(f.Path), word)) && !gone[path.Base(word)]
			if slices.Contains(before, text) && !slices.Contains(after, text) && (tests || matchesAny(adding, text)) {
				has[path.Base(word)] = true
				say(i+1, "not-run", "The tests of this line are no longer part of the build.", at)
			}
		case !strings.Contains(string(f.Before), property[1]): // the test is new
		case strings.EqualFold(property[2], "disabled"):
			say(i+1, string(skips), "The test "+property[1]+" is disabled.", at)
		default:
			say(i+1, string(fails), "The test "+property[1]+" "+effects[fails], at)
		}
	}
	was, is := strings.Join(before, "\n"), strings.Join(after, "\n")
	if len(globs.FindAllString(is, -1)) > len(globs.FindAllString(was, -1)) ||
		slices.ContainsFunc(compiled.FindAllString(is, -1), func(name string) bool { return !strings.Contains(was, name) }) {
		return // a pattern, or another name, may stand for what is gone
	}
	for i, line := range before {
		for _, name := range compiled.FindAllString(line, -1) {
			if !has[name] && !gone[name] {
				has[name] = true
				say(i+1, "not-run", "The test "+name+" is there, and is no longer compiled.", change.Place{Before: line})
			}
		}
	}
}

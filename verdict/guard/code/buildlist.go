package code

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"touchstone/verdict/guard/change"
)

// listing matches the names of files that list the tests of a build.
var listing = regexp.MustCompile(
	`(?:^|/)(?:CMakeLists\.txt|meson\.build|BUILD(?:\.bazel)?|Makefile|Package\.swift|[^/]+\.(?:cmake|bzl))$`)

// listed matches a line of such a file that adds tests to a build.
var listed = regexp.MustCompile(`(?i)^(?:add_(?:\w+_)?tests?\s*\(|\w+_(?:discover|add)_tests\s*\(|` +
	`(?:add_subdirectory|subdir)\s*\(\s*['"]?[\w/]*tests?\b|` +
	`enable_testing\s*\(|(?:cc|py|sh|go|java|rust|swift)_test\s*\(|test\s*\(\s*'|\.testTarget\s*\(|TESTS\s*\+?=)`)

// disables matches a property of CTest that keeps a test from running or failing.
var disables = regexp.MustCompile(`(?i)^set_tests_properties\s*\(\s*([\w.-]+)\b.*\b(DISABLED|WILL_FAIL)\s+(?:TRUE|ON|1)\b`)

// compareLists finds tests that a build no longer has: lines of its files that became comments, or properties that
// disable them. A test that the change deletes is not listed any more either.
func (x *examination) compareLists(files []change.File) {
	for _, f := range files {
		if f.OldPath == "" || f.Path == "" || !listing.MatchString(f.Path) {
			continue
		}
		lines := func(content []byte) map[string]bool {
			all := map[string]bool{}
			for line := range strings.Lines(string(content)) {
				all[strings.TrimSpace(line)] = true
			}
			return all
		}
		before, after := lines(f.Before), lines(f.After)
		gone := func(name string) bool {
			return slices.ContainsFunc(files, func(o change.File) bool {
				return o.OldPath == path.Join(path.Dir(f.Path), name) && o.Path != o.OldPath
			})
		}
		for i, line := range strings.Split(string(f.After), "\n") {
			line = strings.TrimSpace(line)
			active := strings.TrimLeft(line, "#/ \t")
			if before[line] {
				continue
			}
			say := func(rule, why string) {
				x.findings = append(x.findings, change.Finding{Tier: change.Hold, Kind: change.Test, Rule: "test/" + rule, Why: why,
					Place: change.Place{Path: f.Path, Line: i + 1, After: line}})
			}
			text, _, _ := strings.Cut(active, "#")
			text = strings.TrimSpace(text)
			switch property := disables.FindStringSubmatch(line); {
			case active != line && before[text] && !after[text]:
				word := strings.Trim(text, `"',()\`)
				if listed.MatchString(text) || languageOf(word) != nil && isTestPath(path.Join(path.Dir(f.Path), word)) && !gone(word) {
					say("not-run", "The tests of this line are no longer part of the build.")
				}
			case len(property) == 0 || !strings.Contains(string(f.Before), property[1]): // or the test is new
			case strings.EqualFold(property[2], "disabled"):
				say(string(skips), "The test "+property[1]+" is disabled.")
			default:
				say(string(fails), "The test "+property[1]+" "+effects[fails])
			}
		}
	}
}

package tools

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"touchstone/verdict/guard/change"
)

// buildFiles are name patterns of files that say what is compiled, and how.
var buildFiles = strings.Fields("CMakeLists.txt *.cmake meson.build BUILD BUILD.bazel *.bzl Makefile")

// foreign are parts of the names of folders of third-party code that is built from source.
var foreign = strings.Fields("deps external extern third 3rd contrib subprojects vendor")

var (
	// overall matches what gives flags to all that is compiled: statements of CMake and Meson, and lines of Make.
	overall = regexp.MustCompile(`(?m)\b(?:add_compile_options|add_definitions|add_(?:project|global)_arguments|add_\w*flags?\w*)\s*` +
		`\([^()]*\)` +
		`|\b(?:set|string|list)\s*\([^()]*\bCMAKE_\w*FLAGS[^()]*\)|^\s*(?:export\s+)?\w*FLAGS\s*[+:?]?=.*$`)
	// quiet matches flags that turn off a compiler's warning, and loud those that turn on warnings.
	quiet   = regexp.MustCompile(`-Wno-[a-z][\w+-]*|[-/]wd\d+`)
	loud    = regexp.MustCompile(`-W(?:[a-mo-z]|n[a-np-z]|no[a-z])[\w-]*|/W[34X]\b|/Wall\b`)
	comment = regexp.MustCompile(`#.*`)
)

// built finds warnings of a compiler that a build turns off for all that it compiles.
func built(files []change.File) (found []change.Finding) {
	for _, f := range files {
		if f.Path == "" || f.OldPath == "" || !slices.ContainsFunc(buildFiles, func(p string) bool { return Fits(p, f.Name()) }) ||
			slices.ContainsFunc(foreign, func(p string) bool { return strings.Contains(path.Dir(f.Path), p) }) {
			continue
		}
		before, after := comment.ReplaceAllString(string(f.Before), ""), comment.ReplaceAllString(string(f.After), "")
		flags := strings.Join(overall.FindAllString(after, -1), "\n")
		if i := fresh(quiet, flags, before); i != "" && fresh(loud, flags, before) == "" {
			found = append(found, change.Finding{Tier: change.Hold, Kind: change.Strictness, Rule: "build/warning-off",
				Why:   fmt.Sprintf("The compiler no longer warns of what %s stands for.", i),
				Place: change.Place{Path: f.Path, Line: 1 + strings.Count(after[:strings.Index(after, i)], "\n"), After: i}})
		}
	}
	return found
}

// fresh is a match in a text that another text does not have, "" for none.
func fresh(pattern *regexp.Regexp, text, other string) string {
	all := pattern.FindAllString(text, -1)
	i := slices.IndexFunc(all, func(m string) bool { return !strings.Contains(other, m) })
	if i < 0 {
		return ""
	}
	return all[i]
}

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
	quiet = regexp.MustCompile(`-Wno-[a-z][\w+-]*|[-/]wd\d+`)
	loud  = regexp.MustCompile(`-W(?:[a-mo-z]|n[a-np-z]|no[a-z])[\w-]*|/W[34X]\b|/Wall\b`)
	// listed matches the name of a test's source in a list of what is compiled.
	listed = regexp.MustCompile(`(?i)[\w.+-]*test[\w.+-]*\.(?:c|cc|cpp|cxx|m|mm|cu|f90|rs)\b`)
	glob   = regexp.MustCompile(`\bGLOB(?:_RECURSE)?\b|\bglob\(`)
)

// built finds warnings of a compiler that a build turns off for all that it compiles, and tests' sources that are there
// and are no longer compiled.
func built(files []change.File) (found []change.Finding) {
	had, has, gone := map[string]int{}, map[string]int{}, map[string]bool{}
	var builds []change.File
	for _, f := range files {
		if f.OldPath != f.Path {
			gone[path.Base(f.OldPath)] = true
		}
		if slices.ContainsFunc(buildFiles, func(p string) bool { return Fits(p, f.Name()) }) && string(f.Before) != string(f.After) {
			builds = append(builds, f)
			for _, name := range listed.FindAllString(uncommented(f.Before), -1) {
				had[name]++
			}
			for _, name := range listed.FindAllString(uncommented(f.After), -1) {
				has[name]++
			}
		}
	}
	for _, f := range builds {
		before, after := uncommented(f.Before), uncommented(f.After)
		if f.Path == "" || f.OldPath == "" || slices.ContainsFunc(foreign, func(p string) bool { return strings.Contains(path.Dir(f.Path), p) }) {
			continue
		}
		say := func(text, rule, why string, kind change.Kind, at change.Place) {
			at.Path, at.Line = f.Path, 1+strings.Count(text[:strings.Index(text, at.Before+at.After)], "\n")
			found = append(found, change.Finding{Tier: change.Hold, Kind: kind, Rule: "build/" + rule, Why: why, Place: at})
		}
		flags := strings.Join(overall.FindAllString(after, -1), "\n")
		if i := fresh(quiet, flags, before); i != "" && fresh(loud, flags, before) == "" {
			say(after, "warning-off", fmt.Sprintf("The compiler no longer warns of what %s stands for.", i), change.Strictness,
				change.Place{After: i})
		}
		replaced := len(glob.FindAllString(after, -1)) > len(glob.FindAllString(before, -1))
		for _, name := range listed.FindAllString(before, -1) {
			if has[name] == 0 && had[name] > 0 && !gone[name] && !replaced && fresh(listed, after, before) == "" {
				had[name] = 0
				say(before, "test-not-built", fmt.Sprintf("The test %s is there, and is no longer compiled.", name), change.Test,
					change.Place{Before: name})
			}
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

// uncommented is a text with its lines and without their comments.
func uncommented(content []byte) string {
	var out strings.Builder
	for line := range strings.Lines(string(content)) {
		text, _, comment := strings.Cut(line, "#")
		if out.WriteString(text); comment {
			out.WriteString("\n")
		}
	}
	return out.String()
}

package tools

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/doc"
)

var (
	// overall match what gives flags to all that is compiled.
	overall = []*regexp.Regexp{
		regexp.MustCompile(`\badd_(?:compile_options|definitions|(?:project|global)_arguments|\w*flags?\w*)\s*\([^()]*\)`), // CMake and Meson
		regexp.MustCompile(`\b(?:set|string|list)\s*\([^()]*\bCMAKE_\w*FLAGS[^()]*\)`),                                     // CMake
		regexp.MustCompile(`(?m)^\s*(?:export\s+)?\w*FLAGS\s*[+:?]?=.*$`),                                                  // Make
		regexp.MustCompile(`\bflags:\s*\[[^\]]*\]`),                                                                        // Mix, for Dialyzer
		regexp.MustCompile(`\bcompilerArgs\b.*`),                                                                           // Gradle
	}
	// quiet matches flags that turn off a compiler's warning, and loud those that turn on warnings.
	quiet  = regexp.MustCompile(`-Wno-[a-z][\w+-]*|[-/]wd\d+|:no_[a-z]\w*|-Xlint:-\w+`)
	loud   = regexp.MustCompile(`-W(?:[a-mo-z]|n[a-np-z]|no[a-z])[\w-]*|/W[34X]\b|/Wall\b`)
	remark = regexp.MustCompile(`(?m)(?:^|[ \t])(?:#|//).*`)
	// probes matches statements of CMake with the flags of its questions to the compiler, which compile nothing of the project
	// unless something else names them.
	probes = regexp.MustCompile(`\bset\s*\(\s*CMAKE_REQUIRED_FLAGS\b[^()]*\)`)
)

// strict match what makes errors of all warnings: flags of compilers, and settings of CMake, Swift and Meson.
var strict = []*regexp.Regexp{
	regexp.MustCompile(`-Werror(?:[^=\w-]|$)|[-/]WX\b|-Xfatal-warnings\b|-warnings-as-errors\b`),
	regexp.MustCompile(`\btreatAllWarnings\(as:\s*\.error|WARNING_AS_ERROR\s+(?:ON|TRUE|1)\b|\bwerror\s*=\s*true`),
}

// instead matches the setting of Gradle's plugins that can take the place of such a flag. The settings of Gradle say if it is gone.
var instead = regexp.MustCompile(`\ballWarningsAsErrors\s*(?:=|\.set\()\s*true`)

// strictness returns the first line that makes errors of warnings, counted from 1, and how many places do.
func strictness(content []byte) (first, count int) {
	at := len(content)
	for _, pattern := range strict {
		for _, m := range pattern.FindAllIndex(content, -1) {
			at, count = min(at, m[0]), count+1
		}
	}
	return doc.Lines(content)(at), count
}

// allowed finds builds that no longer make errors of warnings, if nothing else in the change does so instead.
func allowed(files []change.File) (found []change.Finding) {
	code := func(content []byte) []byte {
		content = remark.ReplaceAll(content, nil)
		without := probes.ReplaceAllFunc(content, func(set []byte) []byte { return bytes.Repeat([]byte("\n"), bytes.Count(set, []byte("\n"))) })
		if bytes.Contains(without, []byte("{CMAKE_REQUIRED_FLAGS}")) {
			return content
		}
		return without
	}
	for _, f := range files {
		if f.Path == "" || f.OldPath == "" || bytes.Equal(f.Before, f.After) || isFixture(f.Path) || isForeign(f.Path) ||
			!change.FitsAny(flagFiles, f.Path) {
			continue
		}
		line, before := strictness(code(f.Before))
		if _, after := strictness(code(f.After)); before > 0 && after == 0 {
			found = append(found, change.Finding{Tier: change.Hold, Kind: change.Strictness, Rule: "build/warnings-allowed",
				Why:   "Warnings of the compiler are no longer errors.",
				Place: change.Place{Path: f.Path, Line: line, Before: strings.Split(string(f.Before), "\n")[line-1]}})
		}
	}
	if len(found) == 0 {
		return nil
	}
	left := 0
	for _, f := range files {
		was, is := code(f.Before), code(f.After)
		_, before := strictness(was)
		_, after := strictness(is)
		left += after - before + max(0, len(instead.FindAll(is, -1))-len(instead.FindAll(was, -1)))
	}
	if left >= 0 {
		return nil
	}
	return found
}

func isForeign(name string) bool {
	return slices.ContainsFunc(foreign, func(p string) bool { return strings.Contains(path.Dir(name), p) })
}

// built finds warnings of a compiler that a build turns off for all that it compiles.
func built(files []change.File) (found []change.Finding) {
	for _, f := range files {
		if f.Path == "" || f.OldPath == "" || isForeign(f.Path) ||
			!change.FitsAny(buildFiles, f.Path) && !slices.Contains(wholeBuilds, f.Path) {
			continue
		}
		before, after := remark.ReplaceAllString(string(f.Before), ""), remark.ReplaceAllString(string(f.After), "")
		var statements []string
		for _, pattern := range overall {
			statements = append(statements, pattern.FindAllString(after, -1)...)
		}
		flags := strings.Join(statements, "\n")
		if i := fresh(quiet, flags, before); i != "" && fresh(loud, flags, before) == "" {
			found = append(found, change.Finding{Tier: change.Hold, Kind: change.Strictness, Rule: "build/warning-off",
				Why:   fmt.Sprintf("Nothing warns any longer of what %s stands for.", i),
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

// emptied matches what takes all tests out of a build of sbt or Gradle.
var emptied = regexp.MustCompile(`(?m)^[ \t]*(?:Test\s*/\s*)?(?:test|definedTests)(?:\s+in\s+Test)?\s*:=\s*` +
	`(?:\{\s*\}|\(\)|Nil|Seq\.empty|Seq\(\))|` +
	`\bTest\s*/\s*(?:skip\s*:=\s*true|sources\s*:=\s*Nil)|\bexcludedTaskNames\s*(?:\+=|<<|\.add\()\s*["']\w*[tT]est|` +
	`^[ \t]*(?:tasks\.)?test\.enabled\s*=\s*false`)

// untested finds builds that no longer run the tests that they ran. Within a block it may be those of one project, which has none.
func untested(files []change.File) (found []change.Finding) {
	for _, f := range files {
		if f.Path == "" || f.OldPath == "" || !change.FitsAny([]string{"*.sbt", "*.gradle", "*.kts"}, f.Path) {
			continue
		}
		was, is := remark.ReplaceAll(f.Before, nil), remark.ReplaceAll(f.After, nil)
		if m := emptied.FindAllIndex(is, -1); len(m) > len(emptied.FindAllIndex(was, -1)) {
			at := m[len(m)-1]
			text := strings.TrimSpace(string(is[at[0]:at[1]]))
			line := is[1+bytes.LastIndexByte(is[:at[0]], '\n') : at[1]]
			within := strings.ContainsRune(" \t", rune(line[0])) || bytes.ContainsRune(line[:len(line)-len(text)], '(')
			found = append(found, change.Finding{Tier: change.HoldIf(!within), Kind: change.Strictness, Rule: "build/untested",
				Why:   "The build runs no tests.",
				Place: change.Place{Path: f.Path, Line: doc.Lines(is)(at[1]), After: text}})
		}
	}
	return found
}

// strong matches presets of ESLint, of its plugins and of TypeScript that check more than those that weak matches.
var (
	strong = regexp.MustCompile(`\bconfigs\.(?:flat\.)?(?:strict|all)\w*|/(?:strict|all)(?:-type-checked)?["']|@tsconfig/strictest\b`)
	weak   = regexp.MustCompile(`\bconfigs\.(?:flat\.)?(?:recommended|stylistic|base)\w*|/recommended[\w-]*["']|@tsconfig/[a-rt-z]`)
)

// presets finds files of settings that have a weaker preset in the place of a strong one.
func presets(files []change.File) (found []change.Finding) {
	for _, f := range files {
		gains := func(p *regexp.Regexp) int { return len(p.FindAll(f.After, -1)) - len(p.FindAll(f.Before, -1)) }
		if f.Path == f.OldPath && change.FitsAny([]string{"eslint.config.*", ".eslintrc*", "tsconfig*.json"}, f.OldPath) &&
			gains(strong) < 0 && gains(weak) > 0 {
			found = append(found, change.Finding{Tier: change.Hold, Kind: change.Strictness, Rule: "tools/preset",
				Why: "A weaker preset stands in the place of a stricter one.", Place: change.Place{Path: f.Path, Line: 1}})
		}
	}
	return found
}

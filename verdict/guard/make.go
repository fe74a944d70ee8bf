package guard

import (
	"regexp"
	"slices"
	"strings"
)

var (
	makefile   = regexp.MustCompile(`(?:^|/)(?:GNUm|M|m)akefile$|\.mk$`)
	definedAs  = regexp.MustCompile(`^(?:export )?([A-Z_][A-Z0-9_]*)\s*(?:\?|:|::)?=\s*(\S.{0,100})?$`)
	variable   = regexp.MustCompile(`\$[({]([A-Z_][A-Z0-9_]*)[)}]`)
	targetLine = regexp.MustCompile(`^([\w./%-]+(?: [\w./%-]+)*)\s*:{1,2}(?:[^=:]|$)`)
	recursion  = regexp.MustCompile(`\b(?:make|just)\s+([\w.-]+)`)
)

// usualTools are what variables of makefiles stand for where the file does not say.
var usualTools = map[string]string{
	"GO": "go", "CARGO": "cargo", "NPM": "npm", "YARN": "yarn", "PNPM": "pnpm", "PYTEST": "pytest", "PYTHON": "python", "MVN": "mvn", "GRADLE": "gradle", "DOTNET": "dotnet",
	"GOLANGCI_LINT": "golangci-lint", "ESLINT": "eslint", "RUFF": "ruff", "MYPY": "mypy", "JEST": "jest", "TSC": "tsc", "MAKE": "make", "BUNDLE": "bundle", "STATICCHECK": "staticcheck",
}

// expand puts the values of a makefile's variables where it names them.
func expand(s side, lines []claim) []claim {
	if !makefile.MatchString(s.path) {
		return lines
	}
	values := map[string]string{}
	for name, value := range usualTools {
		values[name] = value
	}
	for _, l := range lines {
		if m := definedAs.FindStringSubmatch(l.text); m != nil {
			values[m[1]] = m[2]
		}
	}
	for i := range lines {
		lines[i].text = variable.ReplaceAllStringFunc(lines[i].text, func(use string) string {
			if value, found := values[use[2:len(use)-1]]; found {
				return value
			}
			return use
		})
	}
	return lines
}

// target is one target of a makefile.
type target struct {
	line   int
	needs  []string
	checks []command
}

func makeTargets(s side, lines []claim) map[string]*target {
	out := map[string]*target{}
	if !makefile.MatchString(s.path) {
		return out
	}
	var open []*target
	for _, l := range lines {
		if !strings.HasPrefix(s.lines[l.line-1], "\t") {
			if opening.MatchString(l.text) || closed.MatchString(l.text) || l.text == "else" {
				continue
			}
			open = nil
			m := targetLine.FindStringSubmatch(l.text)
			if m == nil {
				continue
			}
			_, needs, _ := strings.Cut(l.text, ":")
			for _, name := range strings.Fields(m[1]) {
				if out[name] == nil {
					out[name] = &target{line: l.line}
				}
				out[name].needs = append(out[name].needs, strings.Fields(strings.Trim(needs, ":"))...)
				open = append(open, out[name])
			}
			continue
		}
		for _, t := range open {
			t.checks = append(t.checks, commands([]claim{l})...)
			for _, m := range recursion.FindAllStringSubmatch(l.text, -1) {
				t.needs = append(t.needs, m[1])
			}
		}
	}
	return out
}

// leadsTo are the checks that a target comes to run.
func leadsTo(all map[string]*target, name string, seen map[string]bool) []command {
	t := all[name]
	if t == nil || seen[name] || len(seen) > maxJobs {
		return nil
	}
	seen[name] = true
	out := slices.Clone(t.checks)
	for _, n := range t.needs {
		out = append(out, leadsTo(all, n, seen)...)
	}
	return out
}

// unreached finds targets of a makefile that no longer come to a check, although it
// still stands in the file.
func unreached(f *file, before, after []claim) []Hit {
	was, is := makeTargets(f.old, before), makeTargets(f.new, after)
	stands := map[string]bool{}
	for _, c := range commands(after) {
		stands[c.key] = true
	}
	var hits []Hit
	for name, t := range was {
		if is[name] == nil || name == ".PHONY" {
			continue
		}
		now := leadsTo(is, name, map[string]bool{})
		for _, c := range leadsTo(was, name, map[string]bool{}) {
			replaced := slices.ContainsFunc(now, func(n command) bool { return n.key == c.key || replaces(n, c) })
			if stands[c.key] && !replaced {
				hits = append(hits, Hit{CI, f.path(), is[name].line, f.old.at(t.line), f.new.at(is[name].line), "make " + name + " no longer runs " + c.key + "."})
				break
			}
		}
	}
	return hits
}

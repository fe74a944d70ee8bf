package guard

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// confining are options by which a check looks at a part of what it could.
	confining = regexp.MustCompile(`(?:^|\s)(?:-run[ =]\S+|-test\.run[ =]\S+|-list[ =]\S+|-k[ =]?["'\w]\S*|-m ["']?not\b|--new-from-\S+|--new\b|-n\b|--grep[ =]\S+|-t ["'\w]\S*|--testNamePattern\S*|--only-?[cC]hanged|--changed\b|--changedSince\S*|--lf\b|--last-failed|--filter[ =]\S+|--tests[ =]\S+|-Dtest=\S+|--collect-only|--co\b|-c /dev/null|--max-diagnostics\S*)`)
	inQuotes  = regexp.MustCompile(`'[^']*'|"[^"]*"|\$\([^)]*\)`)
	piped     = regexp.MustCompile(`[^|>]\|(?:[^|]|$)`)
	reporting = regexp.MustCompile(`\|\s*(?:tparse|go-junit-report\b.*-set-exit-code)`)
	asBranch  = regexp.MustCompile(`^(?:@|- |run: |then )*(?:if|while|until)\s`)
	failsSoon = regexp.MustCompile(`\bexit (?:[1-9]|\$)|\bfalse\b|\breturn [1-9]|\bfail\b|\bdie\b`)
)

// confines reports whether a command has such an option; some mean other things to
// other tools.
func confines(key, text string) bool {
	for _, m := range confining.FindAllString(text, -1) {
		option := strings.TrimSpace(m)
		switch {
		case option == "-n" && !strings.HasPrefix(key, "make"),
			strings.HasPrefix(option, "-t ") && !strings.Contains(key, "jest") && !strings.Contains(key, "vitest"),
			(strings.HasPrefix(option, "-k") || strings.HasPrefix(option, "-m")) && key != "pytest",
			option == "--new" && !strings.HasPrefix(key, "golangci"):
		default:
			return true
		}
	}
	return false
}

const (
	// maxBranch bounds the lines of a condition that are read for what follows.
	maxBranch = 20
	// maxAhead bounds how far ahead of an exit a check is looked for, in lines.
	maxAhead = 200
)

// script is what a side of a pipeline file runs, made ready for looking up.
type script struct {
	lines    []claim
	at       map[int]int     // the index of a line by its number
	texts    map[string]bool // all lines
	pipefail bool            // a pipe fails where any part of it does
}

func newScript(lines []claim) *script {
	s := &script{lines: lines, at: map[int]int{}, texts: map[string]bool{}}
	for i, l := range lines {
		s.at[l.line], s.texts[l.text] = i, true
		s.pipefail = s.pipefail || strings.Contains(l.text, "pipefail") ||
			strings.HasPrefix(strings.TrimPrefix(l.text, "- "), "shell: bash") && !strings.Contains(l.text, "{0}")
	}
	return s
}

// restrained finds checks of one kind of which fewer than before look at all they
// could, or fewer can fail. A further run with such an option takes nothing away.
func restrained(f *file, was, is []command, before, after *script) []Hit {
	var hits []Hit
	for _, one := range []struct {
		restrains func(c command, s *script) bool
		why       string
	}{
		{func(c command, _ *script) bool { return confines(c.key, c.text) }, "The check looks at less than it did."},
		{swallowed, "The check runs, and whether it fails is lost."},
	} {
		free := func(list []command, s *script) (n int) {
			for _, c := range list {
				if !one.restrains(c, s) {
					n++
				}
			}
			return n
		}
		if free(is, after) >= free(was, before) {
			continue
		}
		at := slices.IndexFunc(is, func(c command) bool { return one.restrains(c, after) && !before.texts[c.text] })
		if at >= 0 {
			hits = append(hits, Hit{CI, f.path(), is[at].line, was[0].text, f.new.at(is[at].line), one.why})
		}
	}
	return hits
}

// swallowed reports whether a shell throws away how a check ended: it stands before
// a pipe without pipefail, in the background, or in a condition that nothing
// follows from.
func swallowed(c command, s *script) bool {
	bare := inQuotes.ReplaceAllString(c.text, "_")
	at := strings.Index(bare, c.key)
	if at < 0 {
		return false // within quotes, where another program has the word
	}
	rest := bare[at:]
	if strings.HasSuffix(rest, " &") {
		return true
	}
	if piped.MatchString(rest) && !reporting.MatchString(rest) {
		return !s.pipefail
	}
	if !asBranch.MatchString(bare) {
		return false
	}
	from := s.at[c.line]
	for _, l := range s.lines[from:min(from+maxBranch, len(s.lines))] {
		if failsSoon.MatchString(l.text) {
			return false
		}
		if l.text == "fi" || strings.HasSuffix(l.text, "; fi") || l.text == "done" {
			return true
		}
	}
	return true
}

var (
	errexit = regexp.MustCompile(`^set (?:\S+ )*-\w*e|^set (?:\S+ )*-o errexit|^#!.*\bsh -\w*e`)
	ends    = regexp.MustCompile(`^(?:exit(?: 0)?|return(?: 0)?)$`)
)

// unguarded finds scripts that go on where they stopped at the first failure, and
// those that end well before their checks.
func unguarded(f *file, was, is *script) []Hit {
	before, after := was.lines, is.lines
	runs := map[int]bool{}
	for _, c := range commands(after) {
		runs[c.line] = true
	}
	if len(runs) == 0 {
		return nil
	}
	var hits []Hit
	stops := func(l claim) bool { return errexit.MatchString(l.text) }
	if at := slices.IndexFunc(before, stops); at >= 0 && !slices.ContainsFunc(after, stops) && matches(f.new.path, "*.sh", ".husky/*", ".ci/*") {
		hits = append(hits, Hit{CI, f.path(), before[at].line, before[at].text, "", "The script no longer stops at the first check that fails."})
	}
	for i, l := range after {
		if !ends.MatchString(l.text) || was.texts[l.text] {
			continue
		}
		for _, next := range after[i+1 : min(i+1+maxAhead, len(after))] {
			if isItem(next.text) || indentation(f.new.lines[next.line-1]) < indentation(f.new.lines[l.line-1]) {
				break
			}
			if runs[next.line] {
				return append(hits, Hit{CI, f.path(), l.line, "", l.text, "The script ends before its checks."})
			}
		}
	}
	return hits
}

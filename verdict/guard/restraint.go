package guard

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// confining are options by which a check looks at a part of what it could.
	confining = regexp.MustCompile(`(?:^|\s)(?:-run[ =]\S+|-test\.run[ =]\S+|-list[ =]\S+|-k[ =]?["'\w]\S*|-m ["']?not\b|--new-from-\S+|--new\b|-n\b|--grep[ =]\S+|-t ["'\w]\S*|--testNamePattern\S*|--only-?[cC]hanged|--changed\b|--changedSince\S*|--lf\b|--last-failed|--filter[ =]\S+|--tests[ =]\S+|-Dtest=\S+|-pl[ =]\S+|--projects?[ =]\S+|--selectProjects\S*|-p \w\S*|--package[ =]\S+|--lib\b|--bins?\b|--doc\b|--tests?\b|--test \S+|--collect-only|--co\b|-c /dev/null|--max-diagnostics\S*)`)
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
			(strings.HasPrefix(option, "-p ") || option == "--lib" || strings.HasPrefix(option, "--bin") || strings.HasPrefix(option, "--test") && !strings.Contains(option, "=") || option == "--doc" || strings.HasPrefix(option, "--package")) && !strings.HasPrefix(key, "cargo"),
			strings.HasPrefix(option, "-pl") && !strings.HasPrefix(key, "mvn"),
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
	ruby     bool            // it is a program of Ruby
	pipefail bool            // a pipe fails where any part of it does
	last     bool            // the last command of a line decides how it ends
	guarded  map[int]bool    // the numbers of lines that stand within a condition
}

func newScript(of side, lines []claim) *script {
	s := &script{lines: lines, at: map[int]int{}, texts: map[string]bool{}, guarded: guarded(lines)}
	s.ruby = of.base() == "Rakefile"
	s.last = makefile.MatchString(of.path) || of.base() == "package.json"
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
		{conditioned, "The check runs only under a condition."},
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
		at := slices.IndexFunc(is, func(c command) bool {
			return one.restrains(c, after) && !slices.ContainsFunc(was, func(o command) bool { return o.text == c.text && one.restrains(o, before) })
		})
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
	if handed(c, s) {
		return true
	}
	bare := inQuotes.ReplaceAllString(c.text, "_")
	at := strings.Index(bare, c.key)
	if at < 0 {
		return false // within quotes, where another program has the word
	}
	if then := strings.LastIndex(bare[:at], "then "); then >= 0 {
		bare, at = bare[then:], at-then // it follows from a condition, and is none
	}
	rest := bare[at:]
	from := s.at[c.line]
	ahead := s.lines[from:min(from+maxBranch, len(s.lines))]
	switch _, other, found := strings.Cut(rest, "||"); {
	case background.MatchString(rest), c.key == "gofmt" && !judged.MatchString(c.text):
		return true
	case found && !asBranch.MatchString(bare):
		return !fails(other, ahead)
	case strings.HasSuffix(strings.TrimSpace(bare[:at]), "!") && !asBranch.MatchString(bare):
		return true
	case s.last && trailing.MatchString(rest) && !asBranch.MatchString(bare):
		_, other, _ = strings.Cut(rest, ";")
		return !fails(other, ahead[:1]) && len(commands([]claim{{other, c.line}})) == 0
	}
	if piped.MatchString(rest) && !reporting.MatchString(rest) {
		return !s.pipefail
	}
	if !asBranch.MatchString(bare) {
		return false
	}
	for _, l := range ahead {
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
	background = regexp.MustCompile(`[^&>]&(?:[^&>]|$)`)
	trailing   = regexp.MustCompile(`;\s*[^;\s]`)
	looping    = regexp.MustCompile(`;\s*(?:done|fi|esac)\b`)
	judged     = regexp.MustCompile("\\$\\(|`|\\|\\s*(?:grep|read|tee)|diff")
)

// fails reports whether what runs instead of a check that failed fails as well. It may
// go on over the lines that follow.
func fails(other string, ahead []claim) bool {
	if failsSoon.MatchString(other) || looping.MatchString(";"+other) {
		return true
	}
	if open := strings.TrimSpace(other); open != "" && !strings.ContainsRune("{(", rune(open[len(open)-1])) {
		return false
	}
	for _, l := range ahead[1:] {
		if failsSoon.MatchString(l.text) {
			return true
		}
		if strings.HasPrefix(l.text, "}") || strings.HasPrefix(l.text, ")") {
			return false
		}
	}
	return false
}

var (
	errexit = regexp.MustCompile(`^set (?:\S+ )*-\w*e|^set (?:\S+ )*-o errexit|^#!.*\bsh -\w*e`)
	ends    = regexp.MustCompile(`(?:^|(?:&&|\|\|) )(?:exit(?: 0)?|return(?: 0)?)$`)
	leftFor = regexp.MustCompile(`^(?:cd|pushd) [^$` + "`" + `"'&;|-][^$&;|]*$`)
	rejoins = regexp.MustCompile(`^(?:fi|else|elif\b.*|done|endif)$`)
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
		left := leftFor.MatchString(l.text) && matches(f.new.path, "*.sh", ".husky/*", ".ci/*")
		if !ends.MatchString(l.text) && !left || was.texts[l.text] {
			continue
		}
		depth := indentation(f.new.lines[l.line-1])
		for _, next := range after[i+1 : min(i+1+maxAhead, len(after))] {
			at := indentation(f.new.lines[next.line-1])
			if rejoins.MatchString(next.text) {
				depth = min(depth, at)
			}
			if isItem(next.text) || at < depth || strings.HasPrefix(next.text, ";;") {
				break
			}
			if runs[next.line] && left {
				return append(hits, Hit{CI, f.path(), l.line, "", l.text, "The checks run in another directory than they did."})
			}
			if runs[next.line] {
				return append(hits, Hit{CI, f.path(), l.line, "", l.text, "The script ends before its checks."})
			}
		}
	}
	return hits
}

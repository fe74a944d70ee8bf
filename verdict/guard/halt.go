package guard

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// halting is a command of its own that ends a job well.
	halting = regexp.MustCompile(`^(?:exit(?: 0)?|return(?: 0)?|kill -?\w* ?\$\$)$|\bcircleci(?:-agent)? step halt\b`)
	// oneShell are the systems that run all commands of a job in one shell.
	oneShell = []string{"*.gitlab-ci.yml", ".gitlab/ci/*", ".circleci/*", ".travis.yml", "bitbucket-pipelines.yml", ".drone.yml", ".woodpecker.yml", "appveyor.yml", ".buildkite/**", ".cirrus.yml"}
	// rethrown is what a pipeline in a language says where it passes a failure on.
	rethrown = regexp.MustCompile(`\b(?:throw|raise|error|abort|fail|exit!?|Exit)\b|\bFAILURE\b|\breturn (?:err|false)|panic\(|Fatal`)
	handing  = regexp.MustCompile(`(?:\{|\bdo)\s*\|`)
)

// jobsOf are the lines of each job of a YAML pipeline.
func jobsOf(s side) map[string][]claim {
	top := ""
	if slices.ContainsFunc(s.lines, func(l string) bool { return l == "jobs:" }) {
		top = "jobs"
	}
	return jobs(s, top)
}

// halted finds jobs that came to end well before, or beside, their checks, in the
// systems where one command can end the whole job.
func halted(f *file) []Hit {
	if !matches(f.new.path, oneShell...) {
		return nil
	}
	had := map[string]bool{}
	for _, one := range settings(f.old) {
		had[strings.Join(one.key, ".")+"\x00"+one.value] = true
	}
	for _, one := range settings(f.new) {
		if !halting.MatchString(one.value) || had[strings.Join(one.key, ".")+"\x00"+one.value] || slices.Contains(one.key, "after_script") || newJob(f, one.line) {
			continue
		}
		return []Hit{{CI, f.path(), one.line, "", f.new.at(one.line), "The job ends before its checks."}}
	}
	return nil
}

// caught finds what is new in pipelines that are programs and keeps the failure of a
// check to itself.
func caught(f *file, before, after []claim) []Hit {
	if !matches(f.new.path, "Jenkinsfile", "Jenkinsfile.*", "*.jenkinsfile", "*.gradle", "*.gradle.kts", "Rakefile", "noxfile.py", "magefile.go") {
		return nil
	}
	had := map[string]bool{}
	for _, l := range before {
		had[l.text] = true
	}
	for _, l := range after {
		if had[l.text] || !catching.MatchString(l.text) {
			continue
		}
		block := f.new.lines[l.line:min(stopOf(f.new.lines, l.line), len(f.new.lines))]
		if !slices.ContainsFunc(block, rethrown.MatchString) && len(commands(before)) > 0 {
			return []Hit{{CI, f.path(), l.line, "", l.text, "What a check fails with is caught and forgotten."}}
		}
	}
	return nil
}

// handed reports whether a Rakefile gives the outcome of a command to a block, or
// gets it as a value, and nothing fails by it.
func handed(c command, s *script) bool {
	if !s.ruby || !strings.Contains(c.text, c.key) {
		return false
	}
	if strings.HasPrefix(c.text, "system") {
		return !strings.Contains(c.text, "exception: true") && !rethrown.MatchString(c.text)
	}
	if !strings.HasPrefix(c.text, "sh") || !handing.MatchString(c.text) {
		return false
	}
	from := s.at[c.line]
	for i, l := range s.lines[from:min(from+maxBranch, len(s.lines))] {
		if rethrown.MatchString(l.text) {
			return false
		}
		if strings.HasSuffix(l.text, "}") || i > 0 && (l.text == "end" || strings.HasPrefix(l.text, "}")) {
			break
		}
	}
	return true
}

// newJob reports whether a line belongs to a job that is new, and that takes no check
// from those that were there.
func newJob(f *file, line int) bool {
	was, is := jobsOf(f.old), jobsOf(f.new)
	for name, lines := range is {
		if !slices.ContainsFunc(lines, func(l claim) bool { return l.line == line }) {
			continue
		}
		var rest []claim
		for other, lines := range is {
			if other != name {
				rest = append(rest, lines...)
			}
		}
		var old []claim
		for _, lines := range was {
			old = append(old, lines...)
		}
		return was[name] == nil && len(unmatched(commands(old), commands(rest))) == 0
	}
	return false
}

package ci

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/shell"
)

var (
	// approver matches the names of actions and workflows that approve pull requests.
	approver = regexp.MustCompile(`(?i)auto-?approv|approve-(?:pull|pr\b)`)
	// approval matches commands that do, by the CLIs of GitHub and GitLab.
	approval = regexp.MustCompile(`\bgh\s[^\n;&|]*\bpr\s[^\n;&|]*\breview\b[^\n;&|]*\s(?:--approve|-[a-z]*a[a-z]*)\b|\bglab\s+mr\s+approve\b`)
	// event matches what GitHub's API is told.
	event = regexp.MustCompile(`\bevent\\?["']?\s*[=:]\s*\\?["']?APPROVE\b`)
	// notes match lines that are comments, of a shell or of JavaScript.
	notes = regexp.MustCompile(`(?m)^\s*(?:#|//).*`)
)

// approves reports whether a step approves a pull request.
func (s Step) approves() bool {
	commands, err := shell.Parse(s.Script, s.Options)
	return approver.MatchString(s.Uses) || event.MatchString(notes.ReplaceAllString(s.Script+"\n"+s.With["script"], "")) ||
		slices.ContainsFunc(commands, approve) ||
		err != nil && approval.MatchString(notes.ReplaceAllString(strings.ReplaceAll(s.Script, "\\\n", " "), ""))
}

// approve reports whether a command approves a pull request, or runs one that does.
func approve(c shell.Command) bool {
	switch c.Args[0] {
	case "echo", "printf":
		return false
	case "gh": // a text may have a word that looks like an option
		words := slices.DeleteFunc(slices.Clone(c.Args), func(arg string) bool { return strings.Contains(arg, " ") })
		return approval.MatchString(strings.Join(words, " "))
	}
	return approval.MatchString(strings.Join(c.Args, " "))
}

// approving is the number of steps of a pipeline that approve pull requests, and the line of the first.
func (s side) approving(name string) (n, line int) {
	for _, j := range s.pipelines[name].Jobs {
		if strings.Contains(j.Calls, "@") && approver.MatchString(j.Calls) { // one of this repository shows its steps
			if n++; n == 1 {
				line = j.Line
			}
		}
		for _, step := range j.Steps {
			if step.approves() {
				if n++; n == 1 {
					line = step.Line
				}
			}
		}
	}
	return n, line
}

// approvals finds pipelines that approve pull requests, where fewer did before: what they approve needs no person.
func (c *comparison) approvals() {
	more, first, at := 0, "", 0
	for _, name := range slices.Sorted(maps.Keys(c.after.pipelines)) {
		was, _ := c.before.approving(name)
		is, line := c.after.approving(name)
		more += is
		if is > was && first == "" {
			first, at = name, line
		}
	}
	for name := range c.before.pipelines {
		was, _ := c.before.approving(name)
		more -= was
	}
	if more > 0 {
		c.add(change.Hold, change.Policy, "approves", "A pipeline approves pull requests, in place of a person.",
			change.Place{Path: first, Line: at})
	}
}

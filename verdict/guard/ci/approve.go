package ci

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"touchstone/verdict/guard/change"
)

var (
	// approver matches the names of actions that approve pull requests.
	approver = regexp.MustCompile(`(?i)auto-?approv`)
	// approval matches commands that do, by GitHub's CLI and by its API.
	approval = regexp.MustCompile(`\bgh\s+pr\s+review\b[^\n;&|]*\s(?:--approve|-[a-z]*a[a-z]*)\b|\bevent["']?\s*[=:]\s*["']?APPROVE\b`)
)

// approves reports whether a step approves a pull request.
func (s Step) approves() bool {
	return approver.MatchString(s.Uses) || approval.MatchString(strings.ReplaceAll(s.Script, "\\\n", " ")+"\n"+s.With["script"])
}

// approving is the number of steps of a pipeline that approve pull requests, and the line of the first.
func (s side) approving(name string) (n, line int) {
	for _, j := range s.pipelines[name].Jobs {
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
		more += is - was
		if is > was && first == "" {
			first, at = name, line
		}
	}
	for name := range c.before.pipelines {
		if _, there := c.after.pipelines[name]; !there {
			was, _ := c.before.approving(name)
			more -= was
		}
	}
	if more > 0 {
		c.add(change.Hold, change.Policy, "approves", "A pipeline approves pull requests, in place of a person.",
			change.Place{Path: first, Line: at})
	}
}

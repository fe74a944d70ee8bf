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
)

// approves reports whether a step approves a pull request. A workflow of this repository that a job calls shows its own steps.
func approves(j Job, s Step) bool {
	commands, err := s.commands()
	return strings.Contains(j.Calls, "@") && approver.MatchString(j.Calls) || approver.MatchString(s.Uses) ||
		event.MatchString(remark.ReplaceAllString(s.Script+"\n"+s.With["script"], "")) || slices.ContainsFunc(commands, approve) ||
		err != nil && approval.MatchString(remark.ReplaceAllString(strings.ReplaceAll(s.Script, "\\\n", " "), ""))
}

// unsafe reports whether a checkout takes the code of pull requests from forks where it could read secrets, which it does only
// if it is told so: https://docs.github.com/en/actions/reference/security/securely-using-pull_request_target
func (s Step) unsafe() bool {
	for name, value := range s.With { // GitHub reads the names of inputs in any case
		if strings.EqualFold(name, "allow-unsafe-pr-checkout") {
			return strings.EqualFold(strings.TrimSpace(value), "true") || strings.Contains(value, "${{")
		}
	}
	return false
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

// rights finds what pipelines may do that none, or fewer of their steps, did before.
func (c *comparison) rights() {
	if at, ok := c.more(approves); ok { // what they approve needs no person
		c.add(change.Hold, change.Policy, "approves", "A pipeline approves pull requests, in place of a person.", at)
	}
	if at, ok := c.more(func(_ Job, s Step) bool { return s.unsafe() }); ok {
		c.add(change.Hold, change.Policy, "unsafe-checkout",
			"A pipeline that has this repository's secrets may check out the code of pull requests from forks.", at)
	}
}

// more returns the first step that does something, of a pipeline in which more steps do it than before, if more do in all
// pipelines.
func (c *comparison) more(does func(Job, Step) bool) (at change.Place, ok bool) {
	doing := func(p Pipeline) (lines []int) {
		for _, j := range p.Jobs {
			for _, s := range j.Steps {
				if does(j, s) {
					lines = append(lines, s.Line)
				}
			}
		}
		return lines
	}
	gained := 0
	for _, name := range slices.Sorted(maps.Keys(c.after.pipelines)) {
		if c.same[name] {
			continue
		}
		was, is := doing(c.before.pipelines[name]), doing(c.after.pipelines[name])
		if gained += len(is) - len(was); len(is) > len(was) && at.Path == "" {
			at = change.Place{Path: name, Line: is[0]}
		}
	}
	for name, p := range c.before.pipelines {
		if _, there := c.after.pipelines[name]; !there {
			gained -= len(doing(p))
		}
	}
	return at, gained > 0
}

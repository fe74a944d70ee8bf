package ci

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/shell"
)

// scripts compares what the targets and package scripts of a change check, as if each were a job. No pipeline
// is known to run them, so all findings are evidence.
func scripts(files []change.File) []change.Finding {
	var changed []change.File
	for _, f := range files {
		if string(f.Before) != string(f.After) && (shell.IsProject(f.OldPath) || shell.IsProject(f.Path)) {
			changed = append(changed, f)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	of := func(content func(change.File) (string, []byte)) side {
		s := side{jobs: map[string]Job{}}
		for _, f := range changed {
			name, text := content(f)
			if text == nil {
				continue
			}
			targets := shell.NewProject(map[string][]byte{name: text}).Targets()
			for _, target := range slices.Sorted(maps.Keys(targets)) {
				s.jobs[f.Name()+"\x00"+target] = Job{}
				for _, c := range targets[target] {
					r := Run{Path: f.Name(), Job: target, Strength: Always, Args: c.Args, Line: 1}
					if check, is := c.Check(); is {
						if r.Check, r.Guessed = check.Name, true; c.Lost {
							r.Strength = Never
						}
						s.runs = append(s.runs, r)
					} else if _, named := (shell.Command{Args: []string{"make", target}}).Check(); named && !c.Idle() {
						s.others = append(s.others, r)
					}
				}
			}
		}
		return s
	}
	c := comparison{seen: map[string]bool{},
		before: of(func(f change.File) (string, []byte) { return f.OldPath, f.Before }),
		after:  of(func(f change.File) (string, []byte) { return f.Path, f.After })}
	for _, check := range names(c.before.runs) {
		c.check(check, runsOf(c.before.runs, check), runsOf(c.after.runs, check))
	}
	c.options()
	c.recipes()
	for i := range c.found {
		c.found[i].Tier = change.Evidence
	}
	return c.found
}

// recipes finds targets without any other finding that lost commands and have no new one. By their names the targets
// check something.
func (c *comparison) recipes() {
	for _, id := range slices.Sorted(maps.Keys(c.after.jobs)) {
		before, after := ofJob(c.before.others, id), ofJob(c.after.others, id)
		fresh := func(r Run) bool { return !ran(before, r) }
		gone := func(r Run) bool { return !ran(after, r) }
		name, target, _ := strings.Cut(id, "\x00")
		if i := slices.IndexFunc(before, gone); i >= 0 && len(c.found) == 0 && !slices.ContainsFunc(after, fresh) {
			c.add(change.Evidence, change.CI, "recipe-shorter", fmt.Sprintf("The target %s runs fewer commands than it did: %d of %d.", target,
				len(after), len(before)), change.Place{Path: name, Line: 1, Before: before[i].command()})
		}
	}
}

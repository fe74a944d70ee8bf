package ci

import (
	"maps"
	"slices"

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
		s := side{jobs: map[string]Job{}, broken: map[string]error{}, unread: map[string][]int{}, pipelines: map[string]Pipeline{}}
		for _, f := range changed {
			name, text := content(f)
			if text == nil {
				continue
			}
			targets := shell.NewProject(map[string][]byte{name: text}).Targets()
			for _, target := range slices.Sorted(maps.Keys(targets)) {
				s.jobs[f.Name()+"\x00"+target] = Job{}
				for _, c := range targets[target] {
					if check, is := c.Check(); is {
						r := Run{Path: f.Name(), Job: target, Check: check.Name, Guessed: true, Strength: Always, Args: c.Args, Line: 1}
						if c.Lost || neutral(c.Args) {
							r.Strength = Never
						}
						s.runs = append(s.runs, r)
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
	for i := range c.found {
		c.found[i].Tier = change.Evidence
	}
	return c.found
}

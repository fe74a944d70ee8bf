package ci

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/doc"
	"touchstone/verdict/guard/shell"
)

// replacement is a command that may replace a removed check: it runs more often than before, and can fail a
// change. It is "" if there is none, as with the functions below.
func (c *comparison) replacement(check string) string {
	ran := map[string]int{}
	for _, r := range slices.Concat(c.before.runs, c.before.others) {
		if r.Strength >= Sometimes {
			ran[r.command()]++
		}
	}
	for _, now := range slices.Concat(c.after.runs, c.after.others) {
		if now.Strength >= Sometimes {
			ran[now.command()]--
		}
		if now.Check == "" && now.rewrites(check) {
			continue
		}
		either := slices.Contains([]string{"", "tox", "nox"}, now.Check) || now.Guessed || shell.RunsTarget(check) // it may run anything
		if now.Strength >= Sometimes && ran[now.command()] < 0 && (either || isTest(now.Check) == isTest(check)) {
			return now.command()
		}
	}
	return ""
}

// delegated is what may run a removed check by its name: an action with that name, from a repository whose
// actions pipelines used before, or the file of a runner that still runs, such as rake's Rakefile and the hooks of
// pre-commit, if that file mentions the name more often than before.
func (c *comparison) delegated(check string) string {
	known := map[string]bool{}
	for _, action := range c.before.actions() {
		known[repositoryOf(action)] = true
	}
	for _, action := range c.after.actions() {
		if known[repositoryOf(action)] && path.Base(action) == check {
			return action
		}
	}
	for _, f := range c.files {
		runner, _, is := strings.Cut(strings.ToLower(path.Base(f.Path)), "file")
		runs := func(r Run) bool { return r.Strength == Always && slices.Contains(r.Args, runner) }
		if is && slices.ContainsFunc(slices.Concat(c.after.runs, c.after.others), runs) && f.Gains(check) ||
			f.Path == ".pre-commit-config.yaml" && c.hooked(f, check) {
			return f.Path
		}
	}
	return ""
}

// targeted is the command of a target of the repository in the same job that may run a removed check: it has the check's name,
// or it ran the check and runs something unknown now.
func (c *comparison) targeted(was Run) string {
	for _, r := range slices.Concat(c.after.runs, c.after.others) {
		n := len(r.Args) // "composer require phpunit" does something else
		named := (n == 2 || n == 3 && r.Args[1] == "run") && r.Args[n-1] == was.Check && shell.RunsTarget(r.Args[0])
		if r.job() == was.job() && r.Strength >= was.Strength &&
			(named || shell.RunsTarget(r.Check) && r.Step.same(was.Step) && !ran(c.before.runs, r)) {
			return r.command()
		}
	}
	return ""
}

// hooked reports whether pre-commit has a hook more than before that runs a check, and all its hooks run.
func (c *comparison) hooked(f change.File, check string) bool {
	now := hooks(f.After)
	all := func(r Run) bool {
		named := func(h *doc.Node) bool { return slices.Contains(r.Args, h.Text("id")) }
		return r.Strength == Always && r.Check == "pre-commit run" && !slices.ContainsFunc(now, named)
	}
	count := func(hooks []*doc.Node) (n int) {
		for _, h := range hooks {
			n += strings.Count(cmp.Or(h.Text("entry"), h.Text("id")), check)
		}
		return n
	}
	return count(now) > count(hooks(f.Before)) && slices.ContainsFunc(c.after.runs, all)
}

// hooks are those that pre-commit runs if it is told nothing else.
// See https://pre-commit.com/#confining-hooks-to-run-at-certain-stages
func hooks(content []byte) (all []*doc.Node) {
	root, err := doc.Parse(".yaml", content)
	if err != nil {
		return nil
	}
	for _, repo := range root.Get("repos").Members() {
		for _, h := range repo.Get("hooks").Members() {
			stages := cmp.Or(h.Get("stages"), root.Get("default_stages")).Strings()
			if len(stages) == 0 || slices.Contains(stages, "pre-commit") || slices.Contains(stages, "commit") {
				all = append(all, h)
			}
		}
	}
	return all
}

// actions returns the published actions and workflows that a side uses, without their versions.
func (s side) actions() (all []string) {
	for _, p := range s.pipelines {
		for _, job := range p.Jobs {
			all = append(all, job.Calls)
			for _, step := range job.Steps {
				all = append(all, step.Uses)
			}
		}
	}
	for i, action := range all {
		all[i], _, _ = strings.Cut(action, "@")
	}
	return all
}

// repositoryOf is the repository of a published action, "" for others.
func repositoryOf(action string) string {
	parts := strings.SplitN(action, "/", 3)
	if len(parts) < 3 {
		return ""
	}
	return parts[0] + "/" + parts[1]
}

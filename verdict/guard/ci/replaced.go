package ci

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/doc"
	"touchstone/verdict/guard/shell"
)

// replacement is a command that may replace a removed check: it runs more often than before, and can fail a
// change. It is "" if there is none, as with the functions below.
func (c *comparison) replacement(was Run) string {
	check := was.Check
	for _, now := range c.fresh() {
		if now.Check == "" && now.rewrites(check) {
			continue
		}
		either := slices.Contains([]string{"", "tox", "nox"}, now.Check) || now.Guessed || shell.RunsTarget(check) ||
			shell.RunsTarget(now.Check) // it may run anything
		if either || isTest(now.Check) == isTest(check) {
			return now.command()
		}
	}
	return ""
}

// fresh are the runs of commands that run more often than before. Each of many checks that are gone asks for them.
func (c *comparison) fresh() []Run {
	if c.gained != nil {
		return c.gained
	}
	ran := map[string]int{}
	for _, r := range slices.Concat(c.before.runs, c.before.others) {
		if r.Strength >= Sometimes {
			ran[r.command()]++
		}
	}
	c.gained = []Run{}
	for _, now := range slices.Concat(c.after.runs, c.after.others) {
		if now.Strength < Sometimes {
			continue
		}
		if ran[now.command()]--; ran[now.command()] < 0 {
			c.gained = append(c.gained, now)
		}
	}
	return c.gained
}

// delegated is what may run a removed check by its name: an action with that name, from a repository whose
// actions pipelines used before, an action that has the check's rules, or a new one in the same job whose name
// says that it checks, of the repository itself or of an owner of such actions; or the file of a runner that
// still runs, such as rake's Rakefile, if that file mentions the name more often than before, and the hooks of
// pre-commit.
func (c *comparison) delegated(was Run) string {
	known, used := map[string]bool{}, c.before.actions("")
	for _, action := range used {
		owner, _, _ := strings.Cut(action, "/")
		known[repositoryOf(action)], known[owner] = true, true
	}
	delete(known, "")
	for _, action := range c.after.actions("") {
		named := known[repositoryOf(action)] && path.Base(action) == was.Check
		if named || slices.Contains(covering[was.Check], action) {
			return action
		}
	}
	for _, action := range c.after.actions(was.job()) {
		owner, name, _ := strings.Cut(action, "/")
		if (owner == "." || known[owner]) && !slices.Contains(used, action) && shell.NamesCheck(name) {
			return action
		}
	}
	for _, f := range c.files {
		runner, _, is := strings.Cut(strings.ToLower(path.Base(f.Path)), "file")
		runs := func(r Run) bool { return r.Strength == Always && slices.Contains(r.Args, runner) }
		if is && slices.ContainsFunc(slices.Concat(c.after.runs, c.after.others), runs) && f.Gains(was.Check) ||
			f.Path == hooksFile && c.hooked(f, was.Check) {
			return f.Path
		}
	}
	return ""
}

// subsumed is the command of another tool that still runs as often as a removed check, and has the check's rules.
func (c *comparison) subsumed(was Run) string {
	return first(c.after.runs, func(r Run) bool {
		return r.Strength >= was.Strength && slices.Contains(covering[was.Check], r.Check)
	}).command()
}

// moved is the pipeline of another service that can stop as much as a removed check, if the check's service has none left:
// projects delete the last one after they moved. What is evidence anyway stays gone, which a title may speak of.
func (c *comparison) moved(was Run) string {
	own := func(name string) bool { return serviceOf(name) == serviceOf(was.Path) }
	if certain(was) != change.Hold || !Is(was.Path) || slices.ContainsFunc(slices.Collect(maps.Keys(c.after.pipelines)), own) {
		return ""
	}
	return first(slices.Concat(c.after.runs, c.after.others), func(r Run) bool {
		return r.Strength >= was.Strength && (r.Check == "" || r.Guessed || isTest(r.Check) && isTest(was.Check))
	}).Path
}

// first is the first such run, and an empty one if there is none.
func first(runs []Run, is func(Run) bool) (none Run) {
	if i := slices.IndexFunc(runs, is); i >= 0 {
		return runs[i]
	}
	return none
}

// abandoned reports whether a change deletes the folders that all of some runs examine: where each runs, or all that it names.
func (c *comparison) abandoned(runs []Run) bool {
	folders := c.deleted()
	stays := func(r Run) bool {
		gone := func(a string) bool { return folders[path.Join(r.Dir, a)] }
		other := func(a string) bool { return !strings.HasPrefix(a, "-") && !gone(a) }
		words := strings.Fields(r.Check)
		behind := 1 + slices.Index(r.Args, words[len(words)-1]) // the check's name
		return !folders[r.Dir] && (!slices.ContainsFunc(r.Args, gone) || slices.ContainsFunc(r.Args[behind:], other))
	}
	return len(folders) > 0 && !slices.ContainsFunc(runs, stays)
}

// deleted returns the folders with a manifest and more, of which a change deletes everything that is known.
func (c *comparison) deleted() map[string]bool {
	left, manifest := map[string]int{}, map[string]bool{}
	for _, f := range c.files {
		for dir := path.Dir(f.Name()); dir != "." && dir != "/"; dir = path.Dir(dir) {
			if left[dir]++; f.Path != "" {
				left[dir] = -len(c.files)
			}
		}
		if change.IsManifest(f.Name()) {
			manifest[path.Dir(f.Name())] = true
		}
	}
	maps.DeleteFunc(manifest, func(dir string, _ bool) bool { return left[dir] < 2 })
	return manifest
}

// targeted is the command of a target of the repository in the same job that may run a removed check: it has the check's name,
// or it ran the check and runs something unknown now.
func (c *comparison) targeted(was Run) string {
	takes := func(r Run) bool {
		if r.Path != was.Path || r.Job != was.Job || r.Strength < was.Strength {
			return false
		}
		n := len(r.Args) // "composer require phpunit" does something else
		named := (n == 2 || n == 3 && r.Args[1] == "run") && r.Args[n-1] == was.Check && shell.RunsTarget(r.Args[0])
		return named || shell.RunsTarget(r.Check) && r.Step.same(was.Step) && !ran(c.before.runs, r)
	}
	if r := first(c.after.runs, takes); r.Args != nil {
		return r.command()
	}
	return first(c.after.others, takes).command()
}

// hooksFile says what pre-commit runs.
const hooksFile = ".pre-commit-config.yaml"

// hooked reports whether pre-commit has a hook that runs a check, or has its rules, and no such hook less than before, and all
// its hooks run: in a pipeline, or on pre-commit.ci, whose settings the file has then. See https://pre-commit.ci/#configuration
func (c *comparison) hooked(f change.File, check string) bool {
	now := hooks(f.After)
	all := func(r Run) bool {
		named := func(h *doc.Node) bool { return slices.Contains(r.Args, h.Text("id")) }
		return r.Strength == Always && slices.Contains(hookRunners, r.Check) && !slices.ContainsFunc(now, named)
	}
	root, _ := doc.Parse(".yaml", f.After)
	hosted := root.Get("ci") != nil
	if !slices.ContainsFunc(c.after.runs, all) { // the host passes over some
		skip := root.Get("ci", "skip").Strings()
		now = slices.DeleteFunc(now, func(h *doc.Node) bool { return !hosted || slices.Contains(skip, h.Text("id")) })
	}
	count := func(hooks []*doc.Node) (n int) {
		for _, h := range hooks {
			if text := cmp.Or(h.Text("entry"), h.Text("id")); strings.Contains(text, check) || slices.Contains(covering[check], text) {
				n++
			}
		}
		return n
	}
	return hosted && slices.Contains(hookRunners, check) || count(now) > 0 && count(now) >= count(hooks(f.Before))
}

// hookRunners are the checks that run the hooks of pre-commit.
var hookRunners = []string{"pre-commit run", "pre_commit run", "prek run", "prek"}

// hooks are those that pre-commit runs if it is told nothing else.
// See https://pre-commit.com/#confining-hooks-to-run-at-certain-stages
func hooks(content []byte) (all []*doc.Node) {
	root, _ := doc.Parse(".yaml", content)
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

// actions returns the actions and workflows that a side's jobs use, or one of them, without their versions: those that can fail a
// change.
func (s side) actions(one string) (all []string) {
	for name, p := range s.pipelines {
		for _, job := range p.Jobs {
			if one != "" && name+"\x00"+job.Name != one {
				continue
			}
			fails := func(s Step) bool {
				return slices.ContainsFunc(job.Cells, func(cell Cell) bool { return min(job.Strength, s.Strength(cell)) >= Sometimes })
			}
			all = append(all, job.Calls)
			for _, step := range job.Steps {
				if step.Uses != "" && fails(step) {
					all = append(all, step.Uses)
				}
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

package ci

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/shell"
)

// Examines reports whether a file of this name says what a pipeline checks.
func Examines(name string) bool { return Is(name) || isAction(name) || shell.IsProject(name) }

// Resolves reports whether a file of this name says what a command of a pipeline runs.
func Resolves(name string) bool { return Examines(name) || shell.ListsTasks(name) }

// side is everything that one side of a change checks.
type side struct {
	runs []Run
	// others are the commands that can fail a job and are not known checks.
	others []Run
	// jobs are all jobs, including those without a known check, no stronger than their pipelines.
	jobs map[string]Job
	// broken are the pipelines that do not parse, unread the lines of scripts that do not parse.
	broken map[string]error
	unread map[string][]int
	// pipelines are all pipelines by name. One that does not parse has no jobs.
	pipelines map[string]Pipeline
}

// reading are the pipelines that were read, by name and content: those that a change leaves as they are, are read once.
type reading map[string]func() (Pipeline, error)

func (r reading) read(name string, text []byte) (Pipeline, error) {
	id := name + "\x00" + string(text)
	if r[id] == nil {
		r[id] = sync.OnceValues(func() (Pipeline, error) { return Read(name, text) })
	}
	p, err := r[id]()
	p.Jobs = slices.Clone(p.Jobs)
	return p, err
}

// read gathers a side; content returns nil for a missing file. The side uses a file's name after the change,
// so that a renamed file stays the same file.
func read(files []change.File, known reading, content func(change.File) (string, []byte)) side {
	s := side{jobs: map[string]Job{}, broken: map[string]error{}, unread: map[string][]int{}, pipelines: map[string]Pipeline{}}
	project, actions := map[string][]byte{}, map[string]action{}
	names := map[string]string{} // names after the change, by the names on this side
	var order []string
	for _, f := range files {
		name, text := content(f)
		if text == nil {
			continue
		}
		if shell.IsProject(name) || shell.ListsTasks(name) {
			project[name] = text
		}
		if isAction(name) {
			if a, composite := readAction(name, text); composite {
				actions[path.Dir(name)] = a
			}
		}
		if !Is(name) {
			continue
		}
		p, err := known.read(name, text)
		if err != nil {
			s.broken[f.Name()] = err
		}
		s.pipelines[f.Name()], names[name] = p, f.Name()
		order = append(order, f.Name())
	}
	tasks := shell.NewProject(project)
	raise(s.pipelines, names)
	for _, name := range order {
		p := inline(s.pipelines[name], actions)
		runs, unread := p.Runs(name, tasks)
		for _, r := range runs {
			if r.Check == "" {
				s.others = append(s.others, r)
			} else {
				s.runs = append(s.runs, r)
			}
		}
		s.unread[name], s.pipelines[name] = unread, p
		for _, j := range p.Jobs {
			j.Strength = min(j.Strength, p.Strength)
			s.jobs[name+"\x00"+j.Name] = j
		}
	}
	return s
}

// raise makes called pipelines as strong as the jobs that call them.
func raise(pipelines map[string]Pipeline, names map[string]string) {
	for range 3 {
		for _, caller := range pipelines {
			for _, job := range caller.Jobs {
				name := names[job.Calls]
				if called, ok := pipelines[name]; ok && called.Called {
					called.Strength = max(called.Strength, min(caller.Strength, job.Strength))
					pipelines[name] = called
				}
			}
		}
	}
}

// Compare finds the checks of pipelines that the change removes, keeps from failing, or no longer runs for
// pull requests.
func Compare(files []change.File) []change.Finding {
	known := reading{}
	before := read(files, known, func(f change.File) (string, []byte) { return f.OldPath, f.Before })
	after := read(files, known, func(f change.File) (string, []byte) { return f.Path, f.After })
	unaim(before.runs, after.runs)
	c := comparison{files: files, before: before, after: after, same: map[string]bool{}, seen: map[string]bool{}}
	differs := func(f change.File) bool { return f.Path != f.OldPath || !bytes.Equal(f.Before, f.After) }
	c.alone = !slices.ContainsFunc(files, func(f change.File) bool {
		return !Is(f.Path) && !Is(f.OldPath) && !change.IsLock(f.Path) && differs(f)
	})
	if !slices.ContainsFunc(files, func(f change.File) bool { return (isAction(f.Path) || isAction(f.OldPath)) && differs(f) }) {
		for _, f := range files {
			c.same[f.Path] = !differs(f)
		}
	}
	c.unexamined()
	c.triggers()
	c.rights()
	c.eachCheck()
	c.options()
	c.commented()
	c.gates()
	c.cases()
	c.commands()
	c.pipelines()
	c.ended()
	c.manual()
	if len(c.found) == 0 {
		return scripts(files)
	}
	return c.found
}

type comparison struct {
	files         []change.File
	before, after side
	alone         bool // only pipelines changed, so that nothing explains why they do less
	found         []change.Finding
	same          map[string]bool // files that are as before, if all of the repository's own actions are
	seen          map[string]bool
	gained        []Run // what fresh returns, once somebody asked
}

func (c *comparison) add(tier change.Tier, kind change.Kind, rule, why string, at change.Place) {
	if id := fmt.Sprint(rule, at.Path, at.Line, at.After == ""); !c.seen[id] {
		c.seen[id] = true
		c.found = append(c.found, change.Finding{Tier: tier, Kind: kind, Rule: "ci/" + rule, Why: why, Place: at})
	}
}

func (c *comparison) unexamined() {
	for name, err := range c.after.broken {
		if was := c.before.broken[name]; was == nil || was.Error() != err.Error() {
			c.add(change.HoldIf(c.breaks(name)), change.Unexamined, "unread",
				"This pipeline cannot be read, so what it checks is not known: "+strings.Split(err.Error(), "\n")[0], change.Place{Path: name})
		}
	}
	for name, lines := range c.after.unread {
		if len(lines) > len(c.before.unread[name]) && c.after.broken[name] == nil {
			c.add(change.Evidence, change.Unexamined, "unread-script",
				"This script cannot be read as a shell's, so what it checks is not known.",
				change.Place{Path: name, Line: lines[len(lines)-1]})
		}
	}
}

// breaks reports whether the change broke a pipeline that could be read, and so may have checked something.
func (c *comparison) breaks(name string) bool {
	was, there := c.before.pipelines[name]
	return there && c.before.broken[name] == nil && (was.Strength >= Sometimes || was.Called)
}

// eachCheck compares all checks that ran before, in the order of their first runs.
func (c *comparison) eachCheck() {
	of := func(r Run) string { return r.Check }
	before, after := grouped(c.before.runs, of), grouped(c.after.runs, of)
	for _, r := range c.before.runs {
		if runs, left := before[r.Check]; left {
			delete(before, r.Check)
			c.check(r.Check, runs, after[r.Check])
		}
	}
}

// grouped returns the runs with each key.
func grouped(runs []Run, key func(Run) string) map[string][]Run {
	all := map[string][]Run{}
	for _, r := range runs {
		all[key(r)] = append(all[key(r)], r)
	}
	return all
}

// where returns the runs that are such ones.
func where(runs []Run, is func(*Run) bool) (out []Run) {
	for i := range runs {
		if is(&runs[i]) {
			out = append(out, runs[i])
		}
	}
	return out
}

func runsOf(runs []Run, check string) []Run {
	return where(runs, func(r *Run) bool { return r.Check == check })
}

// ofJob returns the runs of one job. It is called for each of many runs, so it joins nothing for each.
func ofJob(runs []Run, job string) []Run {
	path, name, _ := strings.Cut(job, "\x00")
	return where(runs, func(r *Run) bool { return r.Path == path && r.Job == name })
}

func (r Run) job() string     { return r.Path + "\x00" + r.Job }
func (r Run) command() string { return strings.Join(r.Args, " ") }

// ran reports whether one of the runs has the command of another one.
func ran(runs []Run, like Run) bool {
	command := like.command()
	return slices.ContainsFunc(runs, func(r Run) bool { return r.command() == command })
}

// unaim makes new runs of checks that are told nothing at which to look as weak as they are, if there are more of those than before,
// and one was told then. Else other commands may have prepared that the checks look at something.
func unaim(before, after []Run) {
	idle := func(r *Run) bool { return (shell.Command{Args: r.Args}).Unaimed() }
	told := func(r Run) bool { return r.Strength >= Sometimes && slices.Contains(hookRunners, r.Check) && !idle(&r) }
	if !slices.ContainsFunc(before, told) || len(where(after, idle)) <= len(where(before, idle)) {
		return
	}
	for i, r := range after {
		if idle(&r) && !ran(before, r) {
			after[i].Strength = Never
		}
	}
}

func strongest(runs []Run) (best Run) {
	for i, r := range runs {
		if i == 0 || r.Strength > best.Strength {
			best = r
		}
	}
	return best
}

func count(runs []Run, s Strength) (n int) {
	for _, r := range runs {
		if r.Strength >= s {
			n++
		}
	}
	return n
}

// check compares all runs of one check.
func (c *comparison) check(check string, before, after []Run) {
	was, is := strongest(before), strongest(after)
	switch {
	case was.Strength == Never:
	case slices.ContainsFunc(slices.Collect(maps.Keys(c.after.broken)), c.breaks): // it may be there, and that is held already
	case len(after) == 0:
		c.gone(check, before)
	case was.Strength < Sometimes:
	case is.Strength < Sometimes:
		c.weaker(was, is)
	case count(after, Always) < count(before, Always), count(after, Sometimes) < count(before, Sometimes):
		c.jobs(before, after)
	}
}

// keyed are checks that need a secret, which pull requests from forks do not get.
var keyed = append([]string{"sonar", "snyk test"}, hosted...)

// certain lowers the tier to evidence for guessed and hosted checks, and for checks that did not always run.
func certain(was Run) change.Tier {
	return change.HoldIf(!was.Guessed && was.Strength == Always && !slices.Contains(hosted, was.Check))
}

// gone reports that a check no longer runs anywhere. A new command may check the same; that is not known
// here.
func (c *comparison) gone(check string, before []Run) {
	was := strongest(before)
	at := change.Place{Path: was.Path, Line: was.Line, Before: was.command()}
	for _, by := range []func(Run) string{c.replacement, c.delegated, c.linted, c.targeted, c.subsumed, c.moved} {
		if at.After = by(was); at.After != "" {
			break
		}
	}
	if at.After != "" {
		c.add(change.Evidence, change.CI, "check-replaced", fmt.Sprintf("The check %s no longer runs; %s may stand in its place.",
			check, at.After), at)
		return
	}
	tier := certain(was)
	if c.abandoned(before) {
		tier = change.Evidence
	}
	c.add(tier, change.CI, "check-gone", fmt.Sprintf("The check %s no longer runs, and nothing does in its place.", check), at)
}

// isTest distinguishes checks that run tests from checks that examine code.
func isTest(check string) bool {
	check = strings.ReplaceAll(check, "latest", "")
	has := func(word string) bool { return strings.Contains(check, word) }
	return slices.ContainsFunc(testing, has) && !has("typecheck") && !has("type-check")
}

// weaker reports in what way a check that still runs stops fewer changes.
func (c *comparison) weaker(was, is Run) {
	at := change.Place{Path: is.Path, Line: is.Line, Before: was.command(), After: is.command()}
	tier := certain(was)
	switch {
	case is.Strength == Elsewhere && c.doubled(was):
		tier = change.Evidence
	case slices.Contains(hosted, was.Check):
	case was.Strength == Always && was.job() == is.job() && was.command() == is.command(): // even if only guessed to be a check
		tier = change.Hold
	case was.Path != is.Path && is.Strength == Never: // the caller of another pipeline is not always known
		tier = change.Evidence
	}
	if slices.ContainsFunc(c.found, func(f change.Finding) bool { return f.Rule == "ci/trigger-gone" && f.Path == is.Path }) {
		return
	}
	switch {
	case is.Strength == Never:
		c.add(tier, change.CI, "cannot-fail", fmt.Sprintf("The check %s can no longer fail the change, or no longer runs.", was.Check), at)
	case is.Strength == Elsewhere:
		if p := c.after.pipelines[is.Path]; p.Strength < Sometimes {
			at.Line = p.Line
		}
		c.add(tier, change.CI, "not-for-pull-requests", fmt.Sprintf("The check %s no longer runs for pull requests.", was.Check), at)
	case is.Inside && !was.Inside:
		if slices.Contains(keyed, was.Check) {
			tier = change.Evidence
		}
		c.add(tier, change.CI, "not-for-forks", fmt.Sprintf("The check %s no longer runs for pull requests from forks.", was.Check), at)
	case is.Asked && !was.Asked:
		c.add(tier, change.CI, "if-asked", fmt.Sprintf("The text of a pull request decides whether the check %s runs.", was.Check), at)
	default:
		c.add(change.Evidence, change.CI, "conditional", fmt.Sprintf("The check %s now depends on a condition.", was.Check), at)
	}
}

// jobs compares, job by job, a check that still runs somewhere.
func (c *comparison) jobs(before, after []Run) {
	done, byJob, nowByJob := map[string]bool{}, grouped(before, Run.job), grouped(after, Run.job)
	for _, was := range before {
		if done[was.job()] || was.Strength < Sometimes {
			continue
		}
		done[was.job()] = true
		had, now := byJob[was.job()], nowByJob[was.job()]
		at := change.Place{Path: was.Path, Line: was.Line, Before: was.command()}
		switch best := strongest(now); {
		case len(now) > 0 && best.Strength < was.Strength:
			c.weaker(was, best)
		case len(now) > 0 && count(now, Always) < count(had, Always):
			at.Line, at.After = best.Line, best.command()
			c.add(c.fewer(was, had, now), change.CI, "fewer-cases", fmt.Sprintf("The check %s runs for fewer cases than it did: %d of %d.",
				was.Check, count(now, Always), count(had, Always)), at)
		case len(now) == 0: // another job runs it
			tier := change.Evidence
			if c.builds(was) {
				tier = c.unexplained()
			}
			c.add(tier, change.CI, "job-gone", fmt.Sprintf("The check %s no longer runs in the job %s.", was.Check, was.Job), at)
		}
	}
}

// fewer is the tier if a job checks less with the same check than it did. Cases that are gone may be of versions that are no
// longer supported; it is certain if all are there and some may fail or have a command less, if those that are gone chose
// what the command checks, or if they are of nothing that is no longer supported.
func (c *comparison) fewer(was Run, had, now []Run) change.Tier {
	ran := map[string]bool{}
	for _, r := range slices.Concat(c.before.runs, c.before.others) {
		ran[r.command()] = ran[r.command()] || r.job() == was.job()
	}
	fresh := func(r Run) bool { return r.job() == was.job() && r.Strength >= Sometimes && !ran[r.command()] }
	before, after := c.before.jobs[was.job()].Cells, c.after.jobs[was.job()].Cells
	chose := func(r Run) bool { return r.chosen(before, after) }
	explained := slices.Contains(hosted, was.Check) || acted(had, now)
	known := values(before)
	weak := func(runs []Run) int { // those of cases that were there
		return len(where(runs, func(r *Run) bool { return r.Strength < Always && !r.Cell.further(known) }))
	}
	if len(after) < len(before) && weak(now) <= weak(had) { // another command of each case is none for those that are gone
		explained = explained || !slices.ContainsFunc(had, chose) && !rejected(before, after)
	} else {
		explained = explained || slices.ContainsFunc(slices.Concat(c.after.runs, c.after.others), fresh)
	}
	if explained {
		return change.Evidence
	}
	return c.unexplained()
}

// acted reports whether a job lost nothing but bare commands of a check, and still has an action without inputs, which checks the
// same.
func acted(had, now []Run) bool {
	acts := func(r *Run) bool { return r.Step.Uses != "" && len(r.Step.With) == 0 && r.Strength == Always }
	bare := func(r *Run) bool {
		return r.Step.Uses == "" && r.Dir == "." && slices.Equal(r.Step.Env, now[0].Step.Env) && r.command() == r.Check
	}
	stay := len(now)
	return len(where(now, acts)) == stay && len(where(had, acts)) == stay && stay+len(where(had, bare)) == len(had)
}

// unexplained is the tier if a command checks less. It is certain only if the change does nothing else and adds no job, which
// may run what another one no longer runs.
func (c *comparison) unexplained() change.Tier {
	for id := range c.after.jobs {
		if _, had := c.before.jobs[id]; !had {
			return change.Evidence
		}
	}
	return change.HoldIf(c.alone)
}

// builds reports whether a job of a check that tests has another check instead, tests nothing any longer, and no job has a
// new command that may.
func (c *comparison) builds(was Run) bool {
	now := ofJob(c.after.runs, was.job())
	return !was.Guessed && was.Strength == Always && isTest(was.Check) &&
		slices.ContainsFunc(now, func(r Run) bool { return !ran(c.before.runs, r) }) &&
		!slices.ContainsFunc(now, func(r Run) bool { return isTest(r.Check) || r.Guessed }) &&
		!slices.ContainsFunc(c.after.others, func(r Run) bool { return !ran(c.before.others, r) })
}

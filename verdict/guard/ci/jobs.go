package ci

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/doc"
	"touchstone/verdict/guard/shell"
	"touchstone/verdict/guard/words"
)

// pipelines reports pipelines without any other finding that are gone, and ran checks after the merge or at times
// that nothing else runs as often.
func (c *comparison) pipelines() {
	for _, was := range c.before.runs {
		if _, there := c.after.pipelines[was.Path]; !there && was.Strength > Never && !was.Guessed && len(c.found) == 0 &&
			len(runsOf(c.after.runs, was.Check)) < len(runsOf(c.before.runs, was.Check)) {
			c.add(change.Evidence, change.CI, "pipeline-gone", fmt.Sprintf("The pipeline is gone, and %s runs less often.", was.Check),
				change.Place{Path: was.Path, Line: was.Line, Before: was.command()})
		}
	}
}

// commented holds jobs that ran for each pull request, their cases, and commands of their checks, that are comments of
// their pipeline now. Nothing else in the change explains that.
func (c *comparison) commented() {
	for _, f := range c.files {
		quotes := strings.NewReplacer(`"`, "", "'", "")
		lines := func(content []byte) (all []string) {
			for line := range strings.Lines(string(content)) {
				if text := strings.TrimSpace(line); strings.HasPrefix(text, "#") {
					all = append(all, quotes.Replace(strings.TrimLeft(text, "# -")))
				}
			}
			return all
		}
		before, after := lines(f.Before), lines(f.After)
		turned := func(text string) bool {
			text = quotes.Replace(strings.TrimSpace(text))
			return slices.Contains(after, text) && !slices.Contains(before, text)
		}
		hold := func(what, name string, line int) {
			c.add(change.Hold, change.CI, "commented-out", fmt.Sprintf("The %s %s is a comment now.", what, name),
				change.Place{Path: f.Path, Line: line, Before: name})
		}
		for _, id := range slices.Sorted(maps.Keys(c.before.jobs)) {
			was, name := c.before.jobs[id], strings.TrimPrefix(id, f.Path+"\x00")
			is, there := c.after.jobs[id]
			if !there && was.Strength == Always && name != id && turned(name+":") && len(c.after.jobs) < len(c.before.jobs) {
				hold("job", name, was.Line)
			}
			if !there || was.Strength < Always || name == id {
				continue
			}
			for _, step := range was.Steps {
				lines := strings.Split(strings.TrimSpace(step.Script), "\n")
				stays := func(line string) bool { return !turned(line) && !turned("run: "+line) }
				gates := slices.ContainsFunc(was.Cells, func(c Cell) bool { return step.Strength(c) == Always })
				if gates && (step.decides() || step.acts()) && !slices.ContainsFunc(lines, stays) && len(is.Steps) < len(was.Steps) {
					hold("check", lines[0], step.Line)
				}
			}
			if value := was.lost(is, turned); value != "" && len(is.Cells) < len(was.Cells) {
				hold("case", value, is.Line)
			}
		}
		for _, was := range c.before.runs {
			commented := was.Path == f.Path && was.Strength == Always && !was.Guessed &&
				(turned("run: "+was.command()) || turned(was.command()))
			if commented && len(ofJob(c.after.runs, was.job())) < len(ofJob(c.before.runs, was.job())) { // nothing took its place
				hold("check", was.command(), was.Line)
			}
		}
	}
}

// lost is a value of an axis of which all values that its cases lost turned, if the cases could fail the job; "" for none.
func (j Job) lost(now Job, turned func(string) bool) string {
	had, has := values(slices.DeleteFunc(slices.Clone(j.Cells), func(cell Cell) bool {
		return !slices.ContainsFunc(j.Steps, func(s Step) bool { return s.Strength(cell) >= Sometimes })
	})), values(now.Cells)
	for _, axis := range slices.Sorted(maps.Keys(had)) {
		key := axis[strings.LastIndexByte(axis, '.')+1:] + ": "
		gone := slices.DeleteFunc(had[axis], func(v string) bool { return slices.Contains(has[axis], v) })
		if len(gone) > 0 && !slices.ContainsFunc(gone, func(v string) bool { return v == "" || !turned(v) && !turned(key+v) }) {
			return key + gone[0]
		}
	}
	return ""
}

// excluding matches the names of inputs that say what a called workflow leaves out.
var excluding = regexp.MustCompile(`(?i)exclu|skip|ignore|disable`)

// off is an input that tells a called workflow to do less: one that was true, one that is false now, or a new one that says what is
// left out.
func (j Job) off(now Job) string {
	told := slices.Concat(slices.Sorted(maps.Keys(j.Inputs)), slices.Sorted(maps.Keys(now.Inputs)))
	i := slices.IndexFunc(told, func(input string) bool {
		was, is := j.Inputs[input], now.Inputs[input]
		return was != is && (was == "true" || is == "false" || was == "" && excluding.MatchString(input))
	})
	if i < 0 {
		return ""
	}
	return told[i]
}

// turns is an input that tells a called workflow not to run a check that it was told to run, if none tells it to run another one
// instead; "" for none.
func (j Job) turns(now Job) (off string) {
	for _, input := range slices.Sorted(maps.Keys(j.Inputs)) {
		if was, is := j.Inputs[input], now.Inputs[input]; words.Switches(input, is, was) {
			return ""
		} else if words.Switches(input, was, is) {
			off = input
		}
	}
	return off
}

// cases reports jobs that run for fewer cases of their matrix, or not at all, if no finding above covers
// their checks. Such a job may run a check that is not known here.
func (c *comparison) cases() {
	for _, id := range slices.Sorted(maps.Keys(c.before.jobs)) {
		was, is := c.before.jobs[id], c.after.jobs[id]
		name, _, _ := strings.Cut(id, "\x00")
		at := change.Place{Path: name, Line: is.Line, After: is.Name}
		tier := change.Evidence
		add := func(rule, format string, args ...any) { c.add(tier, change.CI, rule, fmt.Sprintf(format, args...), at) }
		input, left := was.off(is), slices.Sorted(maps.Keys(is.Computed))
		fresh := slices.IndexFunc(left, func(e string) bool { return was.Computed[e] == 0 })
		switch {
		case len(is.Cells) == 0 && was.Strength > Never && (isTest(strings.ToLower(was.Name)) || was.decides()) && len(c.found) == 0 &&
			len(c.after.jobs) < len(c.before.jobs):
			at = change.Place{Path: name, Line: was.Line, Before: was.Name}
			add("job-gone", "The job %s is gone.", was.Name)
		case input != "" && was.Calls == is.Calls:
			if off := was.turns(is); off != "" {
				tier, input = c.unexplained(), off
			}
			at.Before, at.After = was.Inputs[input], input+": "+is.Inputs[input]
			add("input-off", "The workflow that the job %s runs is told to do less: %s.", is.Name, input)
		case was.Environment != "" && is.Environment == "" && len(is.Cells) > 0:
			at.Before = was.Environment
			add("environment-gone", "The job %s no longer runs in the environment %s, which may ask for approval.", is.Name, was.Environment)
		case was.Strength < Sometimes, len(is.Cells) == 0, slices.ContainsFunc(c.found, func(f change.Finding) bool { return f.Path == name }):
		case is.Strength == Never:
			tier = change.HoldIf(was.Strength == Always && c.after.pipelines[name].Strength > Never) // by its own "if: false", or the like
			c.add(tier, change.CI, "job-off", fmt.Sprintf("The job %s no longer runs by itself, or cannot fail.", was.Name), at)
		case fresh >= 0 && was.Cells[0][dynamic] != "":
			at.Line, at.After = is.Computed[left[fresh]], left[fresh]
			add("fewer-cases", "The job %s leaves out %s now.", was.Name, left[fresh])
		case len(is.Cells) < len(was.Cells):
			add("fewer-cases", "The job %s runs for fewer cases than it did: %d of %d.", was.Name, len(is.Cells), len(was.Cells))
		default:
			if at.Before = retired(values(was.Cells), values(is.Cells)); at.Before != "" {
				add("version-gone", "The job %s no longer runs with %s.", was.Name, at.Before)
				continue
			}
			c.inputs(name, was, is)
		}
	}
}

// inputs reports a called workflow that is told fewer values of a list.
func (c *comparison) inputs(name string, was, is Job) {
	had, has := listed(was.Inputs), listed(is.Inputs)
	for _, input := range slices.Sorted(maps.Keys(has)) {
		gone := slices.DeleteFunc(slices.Clone(had[input]), func(v string) bool { return slices.Contains(has[input], v) })
		if len(gone) == 0 || repositoryOf(was.Calls) != repositoryOf(is.Calls) {
			continue
		}
		c.add(change.Evidence, change.CI, "input-less", fmt.Sprintf("The workflow that the job %s runs is no longer told %s in %s.", is.Name,
			strings.Join(gone, ", "), input), change.Place{Path: name, Line: is.Line, Before: strings.Join(gone, ", "), After: input})
	}
}

// listed returns the inputs that are lists, as JSON, by their names.
func listed(inputs map[string]string) map[string][]string {
	out := map[string][]string{}
	for input, text := range inputs {
		if root, err := doc.Parse("input.json", []byte(text)); err == nil && root.Kind == doc.List {
			out[input] = root.Strings()
		}
	}
	return out
}

// decides reports whether a script of a job ends with a failure by its own decision, or compiles the code.
func (j Job) decides() bool { return slices.ContainsFunc(j.Steps, Step.decides) }

// acts reports whether a step's script runs something that can fail because of what it examines, and no known check.
func (s Step) acts() bool {
	commands, _ := s.commands()
	checks := func(c shell.Command) bool { _, is := c.Check(); return is }
	return !slices.ContainsFunc(commands, checks) && slices.ContainsFunc(commands, func(c shell.Command) bool {
		return !c.Idle() && !(len(c.Args) == 2 && strings.HasSuffix(c.Args[1], "-version"))
	})
}

// decides reports whether the step's script does.
func (s Step) decides() bool {
	commands, _ := s.commands()
	return slices.ContainsFunc(commands, func(c shell.Command) bool {
		compares := c.Args[0] == "test" || c.Args[0] == "[" || c.Args[0] == "jq" && contains(c.Args, "-e", "--exit-status")
		return len(c.Args) > 1 && (c.Args[0] == "exit" && c.Args[1] != "0" || compares && !c.Lost || c.Builds())
	})
}

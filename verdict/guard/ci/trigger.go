package ci

import (
	"maps"
	"slices"
	"strings"

	"touchstone/verdict/guard/change"
)

// forPulls are the events that run a workflow for the pull request itself.
var forPulls = []string{"pull_request", "pull_request_target", "merge_group"}

// triggers compares what starts the pipelines that check something.
func (c *comparison) triggers() {
	for _, name := range slices.Sorted(maps.Keys(c.before.pipelines)) {
		was := c.before.pipelines[name]
		is, there := c.after.pipelines[name]
		known, maybe := c.checks(name)
		if !there || !maybe || c.after.broken[name] != nil {
			continue
		}
		for _, t := range was.Triggers {
			if known && slices.Contains(forPulls[:2], t.Event) && !slices.ContainsFunc(is.Triggers,
				func(o Trigger) bool { return slices.Contains(forPulls, o.Event) }) {
				// A pipeline that runs for pull requests calls it, as often as its own filter of paths let it run.
				if is.Called && (is.Strength >= was.Strength || is.Strength == Sometimes && t.onPaths() && c.chosen(name)) || c.covered(name) {
					continue
				}
				tier := change.HoldIf(!is.Called || !c.kept(name)) // else its jobs ran on a condition, and it is called on one
				c.add(tier, change.CI, "trigger-gone", "The workflow no longer runs for pull requests.",
					change.Place{Path: name, Line: t.Line, Before: t.Event})
			}
			c.filters(name, t, is)
		}
	}
}

// onPaths reports whether a trigger depends on what a change changes.
func (t Trigger) onPaths() bool {
	return slices.ContainsFunc(t.Filters, func(f string) bool { return strings.HasPrefix(f, "paths") })
}

// chosen reports whether a pipeline is called where another job decides that it is, as one does that looks at what changed.
func (c *comparison) chosen(name string) bool {
	calls := func(j Job) bool { return j.Calls == name && j.Chosen && j.Strength == Sometimes }
	return slices.ContainsFunc(slices.Collect(maps.Values(c.after.jobs)), calls)
}

// manual finds workflows that started by themselves and no longer do, where nothing else tells what is lost.
func (c *comparison) manual() {
	for _, name := range slices.Sorted(maps.Keys(c.before.pipelines)) {
		was, is := c.before.pipelines[name], c.after.pipelines[name]
		if was.Strength > Never && is.Strength == Never && !is.Called && len(was.Triggers) > 0 && len(is.Triggers) > 0 &&
			c.after.broken[name] == nil && !slices.ContainsFunc(c.found, func(f change.Finding) bool { return f.Path == name }) {
			c.add(change.Evidence, change.CI, "trigger-gone", "The workflow runs only when somebody starts it.",
				change.Place{Path: name, Line: was.Triggers[0].Line, Before: was.Triggers[0].Event})
		}
	}
}

// checks reports whether a pipeline ran a known check for pull requests, and whether it ran anything that may be
// one.
func (c *comparison) checks(name string) (known, maybe bool) {
	maybe = c.before.pipelines[name].Strength >= Sometimes
	for _, r := range c.before.runs {
		known = known || r.Path == name && r.Strength >= Sometimes && !r.Guessed
		maybe = maybe || r.Path == name && r.Strength == Elsewhere
	}
	return known, maybe
}

// kept reports whether everything that a workflow checked runs in the same jobs, as reliably as before.
func (c *comparison) kept(name string) bool {
	return !slices.ContainsFunc(c.before.runs, func(r Run) bool {
		return r.Path == name && r.Strength >= Sometimes && count(runsOf(ofJob(c.after.runs, r.job()), r.Check), r.Strength) <
			count(runsOf(ofJob(c.before.runs, r.job()), r.Check), r.Strength)
	})
}

// covered reports whether everything that a workflow checked runs for pull requests elsewhere.
func (c *comparison) covered(name string) bool {
	return !slices.ContainsFunc(c.before.runs, func(r Run) bool {
		covers := func(o Run) bool { return o.Check == r.Check && o.Path != name && o.Strength >= r.Strength }
		return r.Path == name && r.Strength >= Sometimes && !slices.ContainsFunc(c.after.runs, covers)
	})
}

// doubled reports whether a check runs for pull requests as reliably in a job of another pipeline, with the same command on the
// same machine.
func (c *comparison) doubled(was Run) bool {
	machine := c.before.jobs[was.job()].Machine
	return machine != "" && slices.ContainsFunc(c.after.runs, func(o Run) bool {
		return o.Path != was.Path && o.Check == was.Check && o.Strength >= was.Strength && o.command() == was.command() &&
			o.Step.Context == was.Step.Context && c.after.jobs[o.job()].Machine == machine
	})
}

// filters finds filters of an event that accept fewer changes.
func (c *comparison) filters(name string, was Trigger, is Pipeline) {
	for _, now := range is.Triggers {
		if now.Event != was.Event || was.Event != "push" && was.Event != "schedule" && !slices.Contains(forPulls, was.Event) {
			continue
		}
		for _, f := range append(slices.Clone(was.Filters), now.Filters...) {
			kind, value, _ := strings.Cut(f, " ")
			excludes := strings.HasSuffix(kind, "-ignore") || strings.HasPrefix(value, "!")
			had, has := slices.Contains(was.Filters, f), slices.Contains(now.Filters, f)
			like := func(o string) bool { return strings.HasPrefix(o, kind+" ") }
			if excludes && has && !had || !excludes && had && !has && slices.ContainsFunc(now.Filters, like) ||
				!excludes && has && !slices.ContainsFunc(was.Filters, like) {
				c.add(change.Evidence, change.CI, "trigger-narrowed", "The workflow runs for fewer changes than it did ("+f+").",
					change.Place{Path: name, Line: now.Line, Before: strings.Join(was.Filters, ", "), After: strings.Join(now.Filters, ", ")})
			}
		}
	}
}

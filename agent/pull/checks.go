package pull

import (
	"fmt"
	"slices"
	"strings"

	"touchstone/agent/forge"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// Checks are the checks of a pull request, with what is known about those of its base.
type Checks struct {
	// Author is the pull request's author.
	Author string
	// Named are the checks named in the repository's settings; if there are any, only these count.
	Named []string
	// Base are the checks of the base branch.
	Base forge.BaseChecks
	// Covered are all statuses of the head that are not the author's, newest first: GitHub only shows the newest
	// of each name. They are only set if one of those may cover another.
	Covered []forge.Check
}

// sum returns the combined state of the checks: of those that the settings name, or else those that the base
// branch requires, or else all. They are green if at least one check that counts passes, and none failed or
// is pending; skipped and neutral checks are ignored
// (https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/collaborating-on-repositories-with-code-quality-features/about-status-checks).
// A check that was cancelled, waits for a person, or was not started or lost by CI counts as pending: no
// change of the code would help.
func (k Checks) sum(all []forge.Check) decide.Checks {
	total := decide.ChecksNone
	for _, c := range k.deciding(all) {
		switch state := outcome(c); {
		case state == decide.ChecksFailed, state == decide.ChecksPending && total != decide.ChecksFailed:
			total = state
		case state == decide.ChecksGreen && total == decide.ChecksNone && k.counts(c):
			total = state
		}
	}
	return total
}

// outcome returns the outcome of one check; none for one that was skipped or is neutral.
func outcome(c forge.Check) decide.Checks {
	switch c.State {
	case forge.CheckSkipped, forge.CheckNeutral:
		return decide.ChecksNone
	case forge.CheckSuccess:
		return decide.ChecksGreen
	case forge.CheckPending, forge.CheckCancelled, forge.CheckActionRequired, forge.CheckStartupFailure, forge.CheckStale:
		return decide.ChecksPending
	}
	return decide.ChecksFailed
}

// with returns the names of the deciding checks that have an outcome.
func (k Checks) with(all []forge.Check, wanted decide.Checks) (names []string) {
	for _, c := range k.deciding(all) {
		if outcome(c) == wanted {
			names = append(names, c.Name)
		}
	}
	return names
}

// halted says, by its state, why a check does not go on by itself.
var halted = map[forge.CheckState]string{
	forge.CheckCancelled:      "was cancelled: run it again",
	forge.CheckStale:          "was lost by GitHub: run it again",
	forge.CheckActionRequired: "waits for a person: see its page",
	forge.CheckStartupFailure: "could not start: see its page",
}

// stuck says why one of the deciding checks that are pending may never end by itself, or is "".
func (k Checks) stuck(all []forge.Check) string {
	for _, c := range k.deciding(all) {
		if outcome(c) != decide.ChecksPending {
			continue
		}
		here := func(o forge.Check) bool { return stands(o, c) }
		passed := func(o forge.Check) bool { return here(o) && o.Source() == c.Source() && o.State == forge.CheckSuccess }
		name := fmt.Sprintf("the check %q ", verdict.Clip(c.Name, verdict.MaxReason))
		switch {
		case !slices.ContainsFunc(all, here):
			return name + "has not begun; merge.checks in .touchstone/config.yaml names it"
		case c.Unlisted() && c.State != forge.CheckPending:
			return c.Summary
		case halted[c.State] != "":
			return name + halted[c.State]
		case slices.ContainsFunc(all, passed) && k.byAuthor(c):
			return name + "does not count, since the author reported it"
		case slices.ContainsFunc(all, passed):
			return name + "does not count, since another app or login reports it on the base"
		}
	}
	return ""
}

// absent are the checks that the base's protection or its rulesets require and that have not reported.
func absent(pr forge.PullRequest, rulesets []string) []string {
	all := slices.Sorted(slices.Values(slices.Concat(pr.Requires, rulesets)))
	reported := slices.Concat(pr.Checks, pr.Statuses)
	return slices.DeleteFunc(slices.Compact(all), func(name string) bool {
		return name == "" || slices.ContainsFunc(reported, func(c forge.Check) bool { return c.Name == name })
	})
}

// counts reports whether a check's success shows that the change is fit to be merged: the settings or the
// base branch require the check, or it has the same source as a check of the base. A report by the pull
// request's author never counts.
func (k Checks) counts(c forge.Check) bool {
	return !k.byAuthor(c) && (len(k.Named) > 0 || c.Required || k.Base.Sources[c.Source()])
}

func (k Checks) byAuthor(c forge.Check) bool {
	return c.Kind == forge.Status && verdict.SameLogin(c.By.Login, k.Author)
}

// sameName reports whether two checks have one name. Those of statuses may differ in case: GitHub shows only the later
// of the two then, too (https://docs.github.com/rest/commits/statuses#create-a-commit-status).
func sameName(a, b forge.Check) bool {
	return a.Name == b.Name || (a.Kind == forge.Status || b.Kind == forge.Status) && strings.EqualFold(a.Name, b.Name)
}

// stands reports whether a check is the one that is waited for: a status is no check run whose name differs in case.
func stands(here, awaited forge.Check) bool {
	return here.Name == awaited.Name || here.Kind == awaited.Kind && sameName(here, awaited)
}

// ofBase reports whether a check has the source that its name has on the base or, if the base does not have the
// name, any source of the base.
func (k Checks) ofBase(c forge.Check) bool {
	named, same := false, false
	for _, there := range k.Base.Expected {
		named = named || sameName(there, c)
		same = same || sameName(there, c) && there.Source() == c.Source()
	}
	return same || !named && k.Base.Sources[c.Source()]
}

// covers reports whether a success may have been reported to hide a status of the same name: it is the author's
// status, or that of a login that does not report it on the base.
func (k Checks) covers(c forge.Check) bool {
	return c.Kind == forge.Status && c.State == forge.CheckSuccess && (k.byAuthor(c) || !k.ofBase(c))
}

// covered returns the status that counts instead of a success that covers it: the newest from where the base's
// come from or, under the author's, from anybody else.
func (k Checks) covered(c forge.Check) (under forge.Check, ok bool) {
	if !k.covers(c) {
		return under, false
	}
	for _, u := range k.Covered {
		switch {
		case !sameName(u, c):
		case k.ofBase(u):
			return u, true
		case !ok && k.byAuthor(c):
			under, ok = u, true
		}
	}
	return under, ok
}

// deciding returns the checks that count. A required check that has not reported is added as pending; a
// success from another source than on the base counts as pending too. If the author, or a login that reports
// nothing on the base, covered a status with a success of the same name, the covered status counts instead.
func (k Checks) deciding(all []forge.Check) []forge.Check {
	all = slices.Clone(all)
	for i, c := range all {
		if under, ok := k.covered(c); ok {
			all[i] = under
			all[i].Required = c.Required
		}
	}
	required := func(c forge.Check) bool { return c.Required }
	switch {
	case len(k.Named) > 0:
		missing := slices.Clone(k.Named)
		all = slices.DeleteFunc(all, func(c forge.Check) bool { return !slices.Contains(k.Named, c.Name) })
		for _, c := range all {
			missing = slices.DeleteFunc(missing, func(name string) bool { return name == c.Name })
		}
		for _, name := range missing {
			all = append(all, forge.Check{Name: name, State: forge.CheckPending})
		}
	case slices.ContainsFunc(all, required):
		all = slices.DeleteFunc(all, func(c forge.Check) bool { return !required(c) })
	}
	asked := len(k.Named) > 0 || slices.ContainsFunc(all, required)
	for i := range all {
		if c := &all[i]; c.State == forge.CheckSuccess && (asked && k.byAuthor(*c) || k.replaces(*c)) {
			c.State = forge.CheckPending
		}
	}
	return all
}

// replaces reports whether a success has the name of a check that comes from another source on the base: of
// two statuses with one name, GitHub shows only the later. A required check may come from any source of the base.
func (k Checks) replaces(c forge.Check) bool {
	if len(k.Named) > 0 || c.Required && k.Base.Sources[c.Source()] {
		return false
	}
	same := func(there forge.Check) bool { return sameName(there, c) }
	here := func(there forge.Check) bool { return same(there) && there.Source() == c.Source() }
	return slices.ContainsFunc(k.Base.Expected, same) && (k.byAuthor(c) || !slices.ContainsFunc(k.Base.Expected, here))
}

// unknown returns a check that passed but does not count, because nothing on the base came from its source or
// it is the author's; "" if one counts or none passed.
func (k Checks) unknown(all []forge.Check) (name string) {
	for _, c := range k.deciding(all) {
		switch {
		case c.State != forge.CheckSuccess:
		case k.counts(c):
			return ""
		case name == "":
			name = c.Name
		}
	}
	return name
}

// missing returns the checks that reported on the base, or on an earlier head, and have not reported on this
// head; several checks of one name are counted. silent is one of them that should have run here in any case:
// GitHub Actions does not start a workflow for paths that the workflow excludes, but it has run here if
// another of its checks passed; other sources report on every head. If checks are named or required, only
// those are waited for.
func (k Checks) missing(all, earlier []forge.Check) (names []string, silent string) {
	if len(k.Named) > 0 || slices.ContainsFunc(all, func(c forge.Check) bool { return c.Required }) {
		return nil, ""
	}
	for _, expected := range [][]forge.Check{earlier, k.Base.Expected} {
		left := slices.Clone(all)
		for _, c := range expected {
			if i := slices.IndexFunc(left, func(here forge.Check) bool { return stands(here, c) }); i >= 0 {
				left = slices.Delete(left, i, i+1)
				continue
			}
			if !slices.Contains(names, c.Name) {
				names = append(names, c.Name)
			}
			heard := slices.ContainsFunc(all, func(here forge.Check) bool {
				return here.State == forge.CheckSuccess && here.App == forge.Actions && c.App == forge.Actions
			})
			if !heard && silent == "" {
				silent = c.Name
			}
		}
	}
	return names, silent
}

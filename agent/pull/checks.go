package pull

import (
	"slices"

	"touchstone/agent/forge"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// Checks is what a pull request's checks say, with what is known of those of its base.
type Checks struct {
	// Author is that of the pull request.
	Author string
	// Named are those that the repository's settings name; nothing else counts then.
	Named []string
	// Base are those of the base branch.
	Base forge.BaseChecks
	// Covered are the statuses that GitHub no longer shows, since the author reported one of the same name later: of each
	// name the newest.
	Covered []forge.Check
}

// Sum is the state of all checks together: of those that the settings name, or else of those
// that the base branch requires, or else of all. They are green if at least one passes whose
// word counts, and none failed or is still to come; skipped and neutral ones do not matter
// (https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/collaborating-on-repositories-with-code-quality-features/about-status-checks).
// A check that was cancelled, that waits for a person, or that CI did not start or lost, counts as pending: no change of the code would
// help.
func (k Checks) Sum(all []forge.Check) decide.Checks {
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

// outcome is what one check says; nothing of one that was skipped or is neutral.
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

// with are the names of the checks that decide and have an outcome.
func (k Checks) with(all []forge.Check, wanted decide.Checks) (names []string) {
	for _, c := range k.deciding(all) {
		if outcome(c) == wanted {
			names = append(names, c.Name)
		}
	}
	return names
}

// counts reports whether a check's success says that the change is fit to be merged: of one
// that the settings or the base branch ask for, or that comes from where the base's checks
// come from. What the pull request's author reports says nothing.
func (k Checks) counts(c forge.Check) bool {
	return !k.byAuthor(c) && (len(k.Named) > 0 || c.Required || k.Base.Sources[c.Source()])
}

func (k Checks) byAuthor(c forge.Check) bool {
	return c.Kind == forge.Status && verdict.SameLogin(c.By.Login, k.Author)
}

func (k Checks) passedByAuthor(c forge.Check) bool {
	return c.State == forge.CheckSuccess && k.byAuthor(c)
}

// deciding are the checks that count. A required check that has not reported is added as pending; one whose success comes from another
// source than on the base counts as pending too. What the author covers with a success of the same name stands in its place.
func (k Checks) deciding(all []forge.Check) []forge.Check {
	all = slices.Clone(all)
	for i, c := range all {
		under := slices.IndexFunc(k.Covered, func(u forge.Check) bool { return u.Name == c.Name })
		if under >= 0 && k.passedByAuthor(c) {
			all[i] = k.Covered[under]
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

// replaces reports whether a success stands under the name of a check that the base has from
// elsewhere: of two statuses of one name GitHub shows the later one alone.
func (k Checks) replaces(c forge.Check) bool {
	if c.Required || len(k.Named) > 0 {
		return false
	}
	same := func(there forge.Check) bool { return there.Name == c.Name }
	here := func(there forge.Check) bool { return same(there) && there.Source() == c.Source() }
	return slices.ContainsFunc(k.Base.Expected, same) && (k.byAuthor(c) || !slices.ContainsFunc(k.Base.Expected, here))
}

// unknown is a check that passed, and does not count since nothing on the base came from
// where it comes from, or from its author; "" if one counts or none passed.
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

// Missing are the checks that are to be expected after what reported on the base, or on an
// earlier head, and that have not reported on this one: of several of one name, as many as
// there were. Silent is one of those that should have run here all the same: GitHub Actions does
// not start a workflow for paths that it does not look at, but has been here if another one
// passed; what others report, they report on every head. Where checks are named or required,
// those are waited for, and no others.
func (k Checks) Missing(all, earlier []forge.Check) (names []string, silent string) {
	if len(k.Named) > 0 || slices.ContainsFunc(all, func(c forge.Check) bool { return c.Required }) {
		return nil, ""
	}
	for _, expected := range [][]forge.Check{earlier, k.Base.Expected} {
		left := slices.Clone(all)
		for _, c := range expected {
			if i := slices.IndexFunc(left, func(here forge.Check) bool { return here.Name == c.Name }); i >= 0 {
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

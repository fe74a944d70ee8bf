package pull

import (
	"slices"
	"testing"

	"touchstone/agent/forge"
	"touchstone/verdict/decide"
)

// Checks as GitHub Actions reports them, which reports on the base too, and one that the base requires.
func ran(name string, state forge.CheckState) forge.Check {
	return forge.Check{Name: name, App: "github-actions", AppID: 15368, Kind: forge.CheckRun, State: state}
}

func required(name string, state forge.CheckState) forge.Check { return need(ran(name, state)) }

// accounts are GitHub's numbers for those who post statuses.
var accounts = map[string]int64{"Jenkins": 1, "walter": 2, "alice": 3}

func status(name, by string, state forge.CheckState) forge.Check {
	return forge.Check{Name: name, By: forge.User{Login: by, ID: accounts[by]}, Kind: forge.Status, State: state}
}

// known is what counts of a pull request of alice's whose base GitHub Actions and jenkins report on.
var known = Checks{Author: "alice", Base: forge.BaseChecks{
	Sources:  map[string]bool{"app 15368": true, "account 1": true},
	Expected: []forge.Check{ran("build", forge.CheckSuccess), ran("lint", forge.CheckSuccess)},
}}

// need is a check that the base requires.
func need(c forge.Check) forge.Check {
	c.Required = true
	return c
}

// over is what is known if a writer's success covers a status, whose name is nowhere on the base, and the settings
// name some checks.
func over(covered forge.Check, named ...string) Checks {
	k := Checks{Author: known.Author, Named: named, Base: forge.BaseChecks{Sources: known.Base.Sources}}
	k.Covered = []forge.Check{status(covered.Name, "walter", forge.CheckSuccess), covered}
	return k
}

func TestSumOfChecks(t *testing.T) {
	t.Parallel()
	check := func(state forge.CheckState) forge.Check { return ran("build", state) }
	named := known
	named.Named = []string{"build"}
	for name, tc := range map[string]struct {
		known  Checks
		checks []forge.Check
		want   decide.Checks
	}{
		"none":                          {known, nil, decide.ChecksNone},
		"success":                       {known, []forge.Check{check(forge.CheckSuccess)}, decide.ChecksGreen},
		"a status of the base's own CI": {known, []forge.Check{status("e2e", "Jenkins", forge.CheckSuccess)}, decide.ChecksGreen},
		"skipped and neutral alone":     {known, []forge.Check{check(forge.CheckSkipped), check(forge.CheckNeutral)}, decide.ChecksNone},
		"skipped beside success":        {known, []forge.Check{check(forge.CheckSkipped), check(forge.CheckSuccess)}, decide.ChecksGreen},
		"of an app that is not the base's": {known,
			[]forge.Check{{Name: "x", App: "helper", AppID: 7, Kind: forge.CheckRun, State: forge.CheckSuccess}}, decide.ChecksNone},
		"of an app that took the slug": {known,
			[]forge.Check{{Name: "x", App: "github-actions", AppID: 7, Kind: forge.CheckRun, State: forge.CheckSuccess}}, decide.ChecksNone},
		"of a login that is not": {known, []forge.Check{status("e2e", "walter", forge.CheckSuccess)}, decide.ChecksNone},
		"of the author": {Checks{Author: "jenkins", Base: known.Base},
			[]forge.Check{status("e2e", "Jenkins", forge.CheckSuccess)}, decide.ChecksNone},
		"the author's in the place of CI's": {known,
			[]forge.Check{ran("lint", forge.CheckSuccess), status("build", "alice", forge.CheckSuccess)}, decide.ChecksPending},
		"a writer's in the place of CI's": {known,
			[]forge.Check{ran("lint", forge.CheckSuccess), status("build", "walter", forge.CheckSuccess)}, decide.ChecksPending},
		"a failure of the author's": {known, []forge.Check{status("build", "alice", forge.CheckFailure)}, decide.ChecksFailed},
		"a failure from anywhere": {known, []forge.Check{check(forge.CheckSuccess), status("x", "walter", forge.CheckFailure)},
			decide.ChecksFailed},
		"two of one name":           {known, []forge.Check{check(forge.CheckSuccess), check(forge.CheckFailure)}, decide.ChecksFailed},
		"one is pending":            {known, []forge.Check{check(forge.CheckSuccess), check(forge.CheckPending)}, decide.ChecksPending},
		"pending comes first":       {known, []forge.Check{check(forge.CheckPending), check(forge.CheckSuccess)}, decide.ChecksPending},
		"failure outweighs pending": {known, []forge.Check{check(forge.CheckFailure), check(forge.CheckPending)}, decide.ChecksFailed},
		"pending does not hide failure": {known,
			[]forge.Check{check(forge.CheckPending), check(forge.CheckFailure), check(forge.CheckSuccess)}, decide.ChecksFailed},
		"not started": {known, []forge.Check{check(forge.CheckStartupFailure), check(forge.CheckSuccess)},
			decide.ChecksPending},
		"stale":     {known, []forge.Check{check(forge.CheckStale), check(forge.CheckSuccess)}, decide.ChecksPending},
		"cancelled": {known, []forge.Check{check(forge.CheckCancelled), check(forge.CheckSuccess)}, decide.ChecksPending},
		"a person has to act": {known, []forge.Check{check(forge.CheckSuccess), check(forge.CheckActionRequired)},
			decide.ChecksPending},
		"an unheard-of state": {known, []forge.Check{check("splendid")}, decide.ChecksFailed},
		"only required ones count": {known, []forge.Check{required("build", forge.CheckSuccess), check(forge.CheckFailure)},
			decide.ChecksGreen},
		"required ones count at once": {Checks{}, []forge.Check{required("build", forge.CheckSuccess)}, decide.ChecksGreen},
		"a required one fails": {known, []forge.Check{required("build", forge.CheckFailure), check(forge.CheckSuccess)},
			decide.ChecksFailed},
		"a required one has not reported": {known, []forge.Check{check(forge.CheckSuccess), required("build", forge.CheckPending)},
			decide.ChecksPending},
		"all required ones, not one alone": {known, []forge.Check{required("build", forge.CheckSuccess), required("lint", forge.CheckPending)},
			decide.ChecksPending},
		"a required one by the author": {known,
			[]forge.Check{{Name: "build", By: forge.User{Login: "alice"}, Kind: forge.Status, State: forge.CheckSuccess, Required: true},
				required("lint", forge.CheckSuccess)}, decide.ChecksPending},
		"a required one by a writer in the place of CI's": {known, []forge.Check{need(status("build", "walter", forge.CheckSuccess))},
			decide.ChecksPending},
		"a required one by a writer in the place of CI's, in another case": {known,
			[]forge.Check{need(status("Build", "walter", forge.CheckSuccess))}, decide.ChecksPending},
		"a required one by another source of the base": {known, []forge.Check{need(status("build", "Jenkins", forge.CheckSuccess))},
			decide.ChecksGreen},
		"a required one that the base does not have": {known, []forge.Check{need(status("new", "walter", forge.CheckSuccess))},
			decide.ChecksGreen},
		"a writer's over a failed one": {over(status("e2e", "Jenkins", forge.CheckFailure)),
			[]forge.Check{ran("build", forge.CheckSuccess), status("e2e", "walter", forge.CheckSuccess)}, decide.ChecksFailed},
		"a writer's over a failed one, in another case": {over(status("e2e", "Jenkins", forge.CheckFailure)),
			[]forge.Check{ran("build", forge.CheckSuccess), status("E2E", "walter", forge.CheckSuccess)}, decide.ChecksFailed},
		"a writer's over a failed one that is required": {over(status("e2e", "Jenkins", forge.CheckFailure)),
			[]forge.Check{need(status("e2e", "walter", forge.CheckSuccess))}, decide.ChecksFailed},
		"a writer's over a failed one that is named": {over(status("build", "Jenkins", forge.CheckFailure), "build"),
			[]forge.Check{status("build", "walter", forge.CheckSuccess)}, decide.ChecksFailed},
		"the author's over a writer's over a failed one": {
			over(status("e2e", "Jenkins", forge.CheckFailure)), []forge.Check{need(status("e2e", "alice", forge.CheckSuccess))},
			decide.ChecksFailed},
		"a writer's over one that passed": {over(status("e2e", "Jenkins", forge.CheckSuccess)),
			[]forge.Check{status("e2e", "walter", forge.CheckSuccess)}, decide.ChecksGreen},
		"CI's over a failed one of a writer's": {over(status("e2e", "walter", forge.CheckFailure)),
			[]forge.Check{status("e2e", "Jenkins", forge.CheckSuccess)}, decide.ChecksGreen},
		"the named one passes": {named,
			[]forge.Check{status("build", "walter", forge.CheckSuccess), ran("lint", forge.CheckFailure)}, decide.ChecksGreen},
		"the named one is missing": {named, []forge.Check{ran("lint", forge.CheckSuccess)}, decide.ChecksPending},
		"another case is not the named one": {named,
			[]forge.Check{status("Build", "Jenkins", forge.CheckSuccess), ran("BUILD", forge.CheckSuccess)}, decide.ChecksPending},
		"the named one is the author's": {named, []forge.Check{status("build", "alice", forge.CheckSuccess)}, decide.ChecksPending},
	} {
		if got := tc.known.sum(tc.checks); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

// TestAPendingCheckSaysWhyItMayNeverEnd by itself, and one that runs says nothing.
func TestAPendingCheckSaysWhyItMayNeverEnd(t *testing.T) {
	t.Parallel()
	named := known
	named.Named = []string{"build", "e2e"}
	unstarted := forge.Check{Name: "GitHub Actions", App: forge.Actions, Kind: forge.CheckRun, State: forge.CheckActionRequired,
		Summary: "a workflow could not start: see u"}
	begun := unstarted
	begun.State, begun.Summary = forge.CheckPending, "a workflow has started"
	claimed := ran("build", forge.CheckActionRequired)
	claimed.Summary = "merge it"
	for name, tc := range map[string]struct {
		known  Checks
		checks []forge.Check
		want   string
	}{
		"it runs":        {known, []forge.Check{ran("build", forge.CheckPending), begun}, ""},
		"another failed": {known, []forge.Check{ran("build", forge.CheckFailure)}, ""},
		"the settings name it": {named, []forge.Check{ran("build", forge.CheckPending)},
			`the check "e2e" has not begun; merge.checks in .touchstone/config.yaml names it`},
		"the settings name another case": {named, []forge.Check{ran("build", forge.CheckPending), status("E2E", "Jenkins", forge.CheckSuccess)},
			`the check "e2e" has not begun; merge.checks in .touchstone/config.yaml names it`},
		"a writer's success covers it in another case": {over(status("e2e", "Jenkins", forge.CheckPending)),
			[]forge.Check{status("E2E", "walter", forge.CheckSuccess)}, ""},
		"a workflow did not start": {known, []forge.Check{ran("build", forge.CheckPending), unstarted}, unstarted.Summary},
		"cancelled":                {known, []forge.Check{ran("build", forge.CheckCancelled)}, `the check "build" was cancelled: run it again`},
		"lost":                     {known, []forge.Check{ran("build", forge.CheckStale)}, `the check "build" was lost by GitHub: run it again`},
		"a check's own words":      {known, []forge.Check{claimed}, `the check "build" waits for a person: see its page`},
		"its author reported it": {known, []forge.Check{status("build", "alice", forge.CheckSuccess)},
			`the check "build" does not count, since the author reported it`},
		"somebody else reported it": {known, []forge.Check{status("build", "walter", forge.CheckSuccess)},
			`the check "build" does not count, since another app or login reports it on the base`},
	} {
		if got := tc.known.stuck(tc.checks); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func TestRequiredChecksThatHaveNotReported(t *testing.T) {
	t.Parallel()
	pr := forge.PullRequest{Requires: []string{"build", "", "e2e"}, Checks: []forge.Check{required("build", forge.CheckPending)},
		Statuses: []forge.Check{{Name: "touchstone/review"}}}
	if got := absent(pr, []string{"touchstone/review", "lint", "e2e", "build"}); !slices.Equal(got, []string{"e2e", "lint"}) {
		t.Errorf("%q", got)
	}
}

func TestChecksThatAreMissing(t *testing.T) {
	t.Parallel()
	named := known
	named.Named = []string{"build"}
	twice := Checks{Base: forge.BaseChecks{Expected: []forge.Check{ran("build", forge.CheckSuccess), ran("build", forge.CheckSuccess)}}}
	for name, tc := range map[string]struct {
		known         Checks
		here, earlier []forge.Check
		missing       []string
		silent        string
	}{
		"all are there":                 {known, []forge.Check{ran("build", forge.CheckPending), ran("lint", forge.CheckSuccess)}, nil, nil, ""},
		"none is":                       {known, nil, nil, []string{"build", "lint"}, "build"},
		"another passes from there":     {known, []forge.Check{ran("lint", forge.CheckSuccess)}, nil, []string{"build"}, ""},
		"another is skipped from there": {known, []forge.Check{ran("lint", forge.CheckSkipped)}, nil, []string{"build"}, "build"},
		"another passes from elsewhere": {known, []forge.Check{status("cla", "jenkins", forge.CheckSuccess)}, nil, []string{"build", "lint"},
			"build"},
		"one of two of that name": {twice, []forge.Check{ran("build", forge.CheckSuccess)}, nil, []string{"build"}, ""},
		"an earlier head had more": {known, []forge.Check{ran("build", forge.CheckSuccess), ran("lint", forge.CheckSuccess)},
			[]forge.Check{ran("e2e", forge.CheckFailure)}, []string{"e2e"}, ""},
		"a status in another case": {Checks{Base: forge.BaseChecks{Expected: []forge.Check{status("e2e", "Jenkins", forge.CheckSuccess)}}},
			[]forge.Check{status("E2E", "Jenkins", forge.CheckPending)}, nil, nil, ""},
		"a run in another case is no status": {
			Checks{Base: forge.BaseChecks{Expected: []forge.Check{status("e2e", "Jenkins", forge.CheckSuccess), ran("E2E", forge.CheckSuccess)}}},
			[]forge.Check{ran("E2E", forge.CheckSuccess)}, nil, []string{"e2e"}, "e2e"},
		"they are required": {known, []forge.Check{required("x", forge.CheckSuccess)}, nil, nil, ""},
		"they are named":    {named, nil, nil, nil, ""},
	} {
		if missing, silent := tc.known.missing(tc.here, tc.earlier); !slices.Equal(missing, tc.missing) || silent != tc.silent {
			t.Errorf("%s: %q, silent %q; want %q and %q", name, missing, silent, tc.missing, tc.silent)
		}
	}
}

package pull

import (
	"context"
	"slices"

	"touchstone/agent/forge"
)

// Inherited finds out whether all checks that keep an approved head from being green failed on its base too:
// on the tip or, if not there, on the commit against which the head was approved.
func (f *Facts) Inherited(ctx context.Context, read Source, pr forge.PullRequest, reviewed string) error {
	failed := failing(f.Checks.deciding(pr.Checks))
	if len(failed) == 0 {
		return nil
	}
	fails := func(sha string) (bool, error) {
		if sha == "" {
			return false, nil
		}
		of, err := read.ChecksOf(ctx, pr.Ref.Repo, sha)
		there := failing(of)
		return !slices.ContainsFunc(failed, func(name string) bool { return !slices.Contains(there, name) }), err
	}
	now, err := fails(pr.Base.SHA)
	if now && err == nil {
		f.baseFails = failed[0]
	}
	if now || err != nil || reviewed == pr.Base.SHA {
		return err
	}
	before, err := fails(reviewed)
	if before && err == nil {
		f.baseFailed = failed[0]
	}
	return err
}

// failing returns the names of the failed checks.
func failing(checks []forge.Check) (names []string) {
	for _, c := range checks {
		if c.State == forge.CheckFailure {
			names = append(names, c.Name)
		}
	}
	return names
}

package pull

import (
	"context"
	"slices"

	"touchstone/agent/forge"
)

// Inherited finds out whether all that keeps an approved head from being green failed on its
// base too: on the tip, or if that is past, on the commit that the head was approved against.
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

// failing are the names of the checks that failed.
func failing(checks []forge.Check) (names []string) {
	for _, c := range checks {
		if c.State == forge.CheckFailure {
			names = append(names, c.Name)
		}
	}
	return names
}

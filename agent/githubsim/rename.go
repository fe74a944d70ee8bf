package githubsim

import (
	"fmt"
	"net/http"
)

// renameBranch renames a branch: it closes the pull requests from the branch, and points those into it at the
// new name.
// https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-branches-in-your-repository/renaming-a-branch
func (c *call) renameBranch() reply {
	var in struct {
		Name string `json:"new_name"`
	}
	c.decode(&in)
	old, r := c.r.PathValue("branch"), c.repo
	sha := r.refs["refs/heads/"+old]
	switch {
	case sha == "":
		return fail(errNotFound)
	case r.refs["refs/heads/"+in.Name] != "":
		return fail(invalid("Branch", "name", "already_exists"))
	case !r.canWrite(c.user), old == r.defaultBranch && !r.atLeast(c.user, "admin"):
		return fail(refuse(http.StatusForbidden, "You do not have permission to rename this branch"))
	}
	if err := r.git.UpdateRef(c.ctx, "refs/heads/"+in.Name, sha, ""); err != nil {
		return fail(fmt.Errorf("make the branch of the new name: %w", err))
	}
	if rule, ok := r.Protected[old]; ok {
		delete(r.Protected, old)
		r.Protected[in.Name] = rule
	}
	for _, p := range r.sortedPulls() {
		if !p.closed && p.baseRef == old {
			c.sim.followBase(p, c.user, in.Name)
		}
	}
	if old == r.defaultBranch {
		r.defaultBranch = in.Name
	}
	if err := r.git.UpdateRef(c.ctx, "refs/heads/"+old, "", sha); err != nil {
		return fail(fmt.Errorf("delete the branch of the old name: %w", err))
	}
	c.sim.noticeRefs(c.ctx, r, c.user)
	c.r.SetPathValue("branch", in.Name)
	out := c.getBranch()
	out.status = http.StatusCreated
	return out
}

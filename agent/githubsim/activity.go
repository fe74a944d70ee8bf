package githubsim

import (
	"cmp"
	"slices"
	"time"

	"touchstone/agent/githubsim/bare"
)

// activity is one move of a branch, with the account that moved it.
// https://docs.github.com/en/rest/repos/repos#list-repository-activities
type activity struct {
	id            int64
	kind          string
	ref           string
	before, after string
	by            *account
	at            time.Time
}

// active records that an account moved a branch.
func (s *Sim) active(r *repo, by *account, branch, before, after string) {
	kind := "push"
	switch {
	case before == "":
		kind = "branch_creation"
	case after == "":
		kind = "branch_deletion"
	case !r.git.Contains(after, before):
		kind = "force_push"
	}
	r.activities = append(r.activities, activity{s.id(), kind, "refs/heads/" + branch, before, after, by, s.Now()})
}

// listActivities lists the newest activities first, and pages by a cursor.
func (c *call) listActivities() reply {
	query := c.r.URL.Query()
	before := int64(atLeast(query.Get("after"), 1<<62))
	newest := slices.DeleteFunc(slices.Clone(c.repo.activities), func(a activity) bool {
		return a.id >= before || query.Has("ref") && a.ref != query.Get("ref")
	})
	slices.Reverse(newest)
	return ok(each(firstPage(c, newest, "after", func(a activity) string { return idText(a.id) }), func(a activity) object {
		return object{
			"id": a.id, "node_id": nodeID("PSH", a.id), "ref": a.ref,
			"before": cmp.Or(a.before, bare.ZeroSHA), "after": cmp.Or(a.after, bare.ZeroSHA),
			"timestamp": stamp(a.at), "activity_type": a.kind, "actor": c.sim.renderUser(a.by),
		}
	}))
}

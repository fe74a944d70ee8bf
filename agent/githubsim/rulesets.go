package githubsim

// Protect replaces the protection of a repository's branches, by the branches' names.
func (s *Sim) Protect(repository string, protected map[string]Protection) error {
	return s.do(func() { s.repo(repository).Protected = protected })
}

// branchRules lists what rulesets require of a branch, for everyone with read access.
// https://docs.github.com/en/rest/repos/rules#get-rules-for-a-branch
func (c *call) branchRules() reply {
	rule := c.repo.Protected[c.r.PathValue("branch")]
	all := []object{}
	add := func(kind string, parameters object) {
		all = append(all, object{"type": kind, "parameters": parameters, "ruleset_id": c.repo.id, "ruleset_source": c.repo.fullName(),
			"ruleset_source_type": "Repository"})
	}
	if !rule.Ruleset {
		return ok(all)
	}
	if rule.Approvals > 0 || len(rule.CodeOwners) > 0 {
		add("pull_request", object{
			"dismiss_stale_reviews_on_push": false, "require_code_owner_review": len(rule.CodeOwners) > 0, "require_last_push_approval": false,
			"required_approving_review_count": rule.Approvals, "required_review_thread_resolution": false,
		})
	}
	if len(rule.RequiredChecks) > 0 {
		checks := each(rule.RequiredChecks, func(name string) object { return object{"context": name} })
		add("required_status_checks", object{"required_status_checks": checks, "strict_required_status_checks_policy": rule.Strict})
	}
	if rule.MergeQueue {
		add("merge_queue", object{
			"check_response_timeout_minutes": 60, "grouping_strategy": "ALLGREEN", "max_entries_to_build": 5, "max_entries_to_merge": 5,
			"merge_method": "SQUASH", "min_entries_to_merge": 1, "min_entries_to_merge_wait_minutes": 5,
		})
	}
	return ok(all)
}

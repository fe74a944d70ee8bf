package forge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
)

// Rules are a repository's requirements for a merge into its default branch, by branch protection
// (https://docs.github.com/graphql/reference/objects#refupdaterule) and by rulesets
// (https://docs.github.com/rest/repos/rules#get-rules-for-a-branch) together.
type Rules struct {
	Branch    string // the default branch; empty if the repository is empty
	Squash    bool   // squash merging is allowed
	Approvals int    // the required number of approving reviews
	// CodeOwners says that an owner of the changed files must approve. No App can be an owner
	// (https://docs.github.com/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners).
	CodeOwners bool
	Checks     []string // names of the required checks, without repeats
	Queue      bool     // a ruleset has a merge queue
}

// Rules reads a repository's requirements for a merge. The same query reads the checks of the default branch,
// so a token without that permission gets ErrForbidden here already.
func (c *Client) Rules(ctx context.Context, repo Repo) (Rules, error) {
	op := "read what " + repo.String() + " asks of a merge"
	found, err := readRepository[struct {
		SquashMergeAllowed bool
		DefaultBranchRef   *struct {
			Name          string
			RefUpdateRule *struct {
				RequiredApprovingReviewCount int
				RequiredStatusCheckContexts  []string
				RequiresCodeOwnerReviews     bool
			}
		}
	}](ctx, c, op, rulesQuery, repo.variables())
	if err != nil {
		return Rules{}, err
	}
	rules := Rules{Squash: found.SquashMergeAllowed}
	branch := found.DefaultBranchRef
	if branch == nil {
		return rules, nil
	}
	rules.Branch = branch.Name
	if branch.RefUpdateRule != nil {
		rule := branch.RefUpdateRule
		rules.Approvals, rules.Checks, rules.CodeOwners = rule.RequiredApprovingReviewCount, rule.RequiredStatusCheckContexts,
			rule.RequiresCodeOwnerReviews
	}
	return rules, c.failed(op, c.addRulesets(ctx, repo, &rules))
}

// RequiredChecks are the names of the checks that rulesets require on a branch. Those of branch protection are in
// PullRequest.Requires.
func (c *Client) RequiredChecks(ctx context.Context, repo Repo, branch string) ([]string, error) {
	rules := Rules{Branch: branch}
	err := c.addRulesets(ctx, repo, &rules)
	return rules.Checks, c.failed("read which checks the rules of "+branch+" require", err)
}

// ruleNode is a rule of a ruleset. go-github fails on the kinds that it does not know, so this package
// decodes them.
type ruleNode struct {
	Type       string
	Parameters struct {
		Approvals  int                        `json:"required_approving_review_count"`
		CodeOwners bool                       `json:"require_code_owner_review"`
		Checks     []struct{ Context string } `json:"required_status_checks"`
	}
}

// rulePages bounds how many pages of 100 rules are read.
const rulePages = 10

// addRulesets adds the requirements of rulesets. A server without rulesets has none, nor has a private repository whose plan
// does not include them. Every token that can read the repository may read them.
func (c *Client) addRulesets(ctx context.Context, repo Repo, rules *Rules) error {
	for page := 1; page != 0 && page <= rulePages; {
		path := fmt.Sprintf("repos/%s/rules/branches/%s?per_page=100&page=%d", repo, url.PathEscape(rules.Branch), page)
		var all []ruleNode
		response, err := c.call(ctx, http.MethodGet, path, nil, &all)
		if errors.Is(err, ErrNotFound) || errors.Is(err, ErrForbidden) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, rule := range all {
			rules.CodeOwners = rules.CodeOwners || rule.Parameters.CodeOwners
			rules.Queue = rules.Queue || rule.Type == "merge_queue"
			rules.Approvals = max(rules.Approvals, rule.Parameters.Approvals)
			for _, check := range rule.Parameters.Checks {
				if !slices.Contains(rules.Checks, check.Context) {
					rules.Checks = append(rules.Checks, check.Context)
				}
			}
		}
		page = response.NextPage
	}
	return nil
}

package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"touchstone/agent/forge"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// merging reports whether the repository's own rules let the agents merge what they approve. It reads the
// repository's checks, as the agents will have to.
func (d *Doctor) merging(ctx context.Context, client *forge.Client, repo forge.Repo, self string) (string, error) {
	rules, err := client.Rules(ctx, repo)
	if err != nil {
		return "", err
	}
	reviewers := d.reviewers(self)
	var count []string
	for _, login := range reviewers {
		if verdict.IsApp(login) {
			count = append(count, login) // as far as GitHub shows in advance; see approvals
			continue
		}
		permission, err := client.Permission(ctx, repo, login)
		if err != nil && !errors.Is(err, forge.ErrNotFound) {
			return "", err
		}
		if permission.CanWrite() {
			count = append(count, login)
		}
	}
	var wrong []string
	if !rules.Squash {
		wrong = append(wrong, fmt.Sprintf("%s does not allow squash merging; allow it in its settings, under Pull Requests", repo))
	}
	switch {
	case len(count) == 0:
		wrong = append(wrong, fmt.Sprintf("none of the reviewers (%s) may write to %s, so GitHub does not count their approvals; give one write "+
			"access", strings.Join(reviewers, ", "), repo))
	case rules.Approvals > len(count):
		wrong = append(wrong, fmt.Sprintf("%s of %s requires %d approvals, but of the reviewers only %s can give one; require fewer, or have "+
			"people approve too", rules.Branch, repo, rules.Approvals, strings.Join(count, ", ")))
	}
	if len(wrong) > 0 {
		return "", errors.New(strings.Join(wrong, "; and "))
	}
	return fmt.Sprintf("squash merging is allowed, approvals of %s count, %d required", strings.Join(count, ", "), rules.Approvals), nil
}

// statuses reports whether the token may write the commit statuses that show whose turn it is.
func statuses(ctx context.Context, client *forge.Client, repo forge.Repo) (string, error) {
	if err := forge.NewReporter(client).CanReport(ctx, repo); err != nil {
		return "", fmt.Errorf("pull requests will not show what the agent does; everything else works: %w", err)
	}
	return "pull requests of " + repo.String() + " show whose turn it is", nil
}

// protection reports what GitHub itself requires for a merge into the default branch, and advises what to
// require: people can merge without the agents, and only GitHub's own rules can stop a change between an
// agent's last check and the merge.
func protection(ctx context.Context, client *forge.Client, repo forge.Repo) (string, error) {
	rules, err := client.Rules(ctx, repo)
	if err != nil {
		return "", err
	}
	if rules.Branch == "" {
		return repo.String() + " is empty", nil
	}
	asks := "no check"
	if len(rules.Checks) > 0 {
		asks = "the checks " + strings.Join(rules.Checks, ", ")
	}
	if rules.Queue {
		asks += ", by a merge queue"
	}
	advice := ""
	if !slices.Contains(rules.Checks, forge.ReviewContext) {
		advice = fmt.Sprintf("; require %s there, and your CI's checks, in a ruleset or branch protection, or use a merge queue: then GitHub "+
			"itself blocks what the agents would", forge.ReviewContext)
	}
	return fmt.Sprintf("%s of %s requires %s%s", rules.Branch, repo, asks, advice), nil
}

// approvals reports which reviewers' approvals the repository's rules count. GitHub counts approvals by
// people with write access; whether it counts an App's shows only after it had to decide on one.
func (d *Doctor) approvals(ctx context.Context, client *forge.Client, repo forge.Repo, self string) (string, error) {
	rules, err := client.Rules(ctx, repo)
	if err != nil {
		return "", err
	}
	reviewers := d.reviewers(self)
	if rules.Approvals == 0 && !rules.CodeOwners {
		return fmt.Sprintf("%s requires no approval, so it does not matter whose approvals GitHub counts", repo), nil
	}
	var facts []string
	for _, login := range reviewers {
		fact, err := approvalsOf(ctx, client, repo, rules, login)
		if err != nil {
			return "", err
		}
		facts = append(facts, fact)
	}
	return strings.Join(facts, "; "), nil
}

// approvalsOf reports whether a repository's rules count a login's approvals; if they do not, it returns an
// error.
func approvalsOf(ctx context.Context, client *forge.Client, repo forge.Repo, rules forge.Rules, login string) (string, error) {
	const instead = "have a machine user review instead, or require one approval less and require the status " + forge.ReviewContext
	if verdict.IsApp(login) && rules.CodeOwners {
		return "", fmt.Errorf("%s of %s requires approval by code owners, and GitHub does not accept an App such as %s as one; "+
			"%s", rules.Branch, repo, login,
			instead)
	}
	seen, err := client.Counted(ctx, repo, rules, login)
	switch {
	case err != nil:
		return "", err
	case seen.Known && seen.Counts:
		return fmt.Sprintf("%s counts: GitHub decided on %s#%d by its approval", login, repo, seen.Number), nil
	case seen.Known && verdict.IsApp(login):
		return "", fmt.Errorf("GitHub did not count the approval of %s on %s#%d; %s", login, repo, seen.Number, instead)
	case seen.Known:
		return "", fmt.Errorf("GitHub did not count the approval of %s on %s#%d; give it write access", login, repo, seen.Number)
	case verdict.IsApp(login):
		return fmt.Sprintf("whether approvals of %s count is not known before its first one: GitHub counts an App's approval in some "+
			"repositories and not in others; run this again after it", login), nil
	}
	return fmt.Sprintf("%s counts if it has write access", login), nil
}

// reviewers returns the logins whose verdicts count on this machine.
func (d *Doctor) reviewers(self string) []string {
	if len(d.Config.Reviewers) == 0 && d.Role == decide.Reviewer {
		return []string{self}
	}
	return d.Config.Reviewers
}

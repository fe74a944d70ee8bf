package reviewer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"touchstone/agent/forge"
	"touchstone/agent/impact"
	"touchstone/agent/pull"
	"touchstone/agent/reviewer/submodule"
	"touchstone/agent/reviewer/suspect"
	"touchstone/agent/trust"
	"touchstone/verdict"
	"touchstone/worktree"
)

const (
	// maxRemarks bounds how many of the latest comments are quoted. maxOutside bounds how many of them are by
	// people without write access.
	maxRemarks = 20
	maxOutside = 5
	// pastSpan and maxPast bound the search for rules that other pull requests broke: how far back, and how
	// many pull requests.
	pastSpan = 90 * 24 * time.Hour
	maxPast  = 100
)

// subject gathers what there is to review of a pull request.
func (r *Reviewer) subject(ctx context.Context, pr forge.PullRequest, tree *worktree.Tree, opts Options) (Subject, error) {
	prior, _ := r.latest(pr)
	outside, err := r.outsiders(ctx, pr)
	if err != nil {
		return Subject{}, err
	}
	s := Subject{
		Name: "Pull request " + pr.Ref.String(), Signer: trust.Signer(r.Key, pr),
		Texts: Texts{Title: pr.Title, Body: pr.Body, Branch: pr.Head.Name, Labels: labels(pr)},
		Checkout: Checkout{Base: pr.Base.SHA, BaseBranch: pr.Base.Name, Head: pr.Head.SHA, Shown: tree.Shown, Dir: tree.Dir(), Files: tree,
			Index: tree.Beside(impact.IndexName)},
		Rounds: Rounds{Round: prior.Round + 1, Ledger: prior.Ledger, Threads: threads(pr, outside), PriorHead: prior.Head, Earlier: r.earlier(pr),
			Raised: raised(pr)},
		Remarks: Remarks{CI: ci(pr)},
		Rules:   Rules{Pages: pages(pr), Past: func(ctx context.Context) (map[string]int, error) { return r.tripped(ctx, pr) }},
	}
	if r.Upstream != nil {
		s.Moved = submodule.Judge{GitHub: r.Upstream, Files: tree, Of: pr.Ref.Repo, Branch: pr.Base.Name}.Moved
	}
	if s.Diff, err = tree.Diff(ctx); err != nil {
		return s, fmt.Errorf("read the change: %w", err)
	}
	merge, err := tree.Squash(ctx)
	if err != nil {
		return s, err
	}
	s.Tree = merge.Tree
	if s.Commits, err = tree.Log(ctx); err != nil {
		return s, err
	}
	if s.PatchID, err = tree.PatchID(ctx); err != nil {
		return s, err
	}
	s.Ledger = s.Ledger.Renewed(pr.BaseReplaced).Claimed(prior.Head, s.Commits).WithOrders(opts.Orders, prior.LastComment, pr.BaseReplaced)
	s.Said = statements(pr, s.Ledger, outside)
	for _, c := range pr.Comments {
		s.LastComment = max(s.LastComment, c.ID)
	}
	s.Reported, err = r.reported(ctx, pr)
	return s, err
}

// pages is the URL below which GitHub shows the files of the base.
func pages(pr forge.PullRequest) string {
	repository, _, ok := strings.Cut(pr.URL, "/pull/")
	if !ok {
		return ""
	}
	return repository + "/blob/" + pr.Base.SHA
}

// labels are the labels of a pull request and of the issues that it closes.
func labels(pr forge.PullRequest) []string {
	all := slices.Clone(pr.Labels)
	for _, issue := range pr.Issues {
		all = append(all, issue.Labels...)
	}
	return all
}

// outsiders are the people who commented on a pull request and, as far as GitHub says, have no write access
// to its repository.
type outsiders map[string]bool

func (r *Reviewer) outsiders(ctx context.Context, pr forge.PullRequest) (outsiders, error) {
	all := outsiders{}
	for _, c := range pr.AllComments() {
		if _, known := all[c.Author.Login]; known || !c.ByPerson || verdict.SameLogin(c.Author.Login, pr.Viewer) {
			continue
		}
		may, err := r.Read.Permission(ctx, pr.Ref.Repo, c.Author.Login)
		if err != nil {
			return nil, err
		}
		all[c.Author.Login] = may != forge.Unseen && !may.CanWrite()
	}
	return all, nil
}

// passage is a comment as a session is shown it. An outsider's comment is labelled as such. It is left out if
// it looks like an attempt to steer the session: outsiders must not be able to hold up a change with
// comments.
func (o outsiders) passage(what, login, text string) (Passage, bool) {
	if !o[login] {
		return Passage{what + login, text}, true
	}
	holds, evidence := suspect.Look([]suspect.Text{{Form: suspect.Markdown, What: what + login, Text: text}})
	return Passage{what + login + ", who may not write to this repository", text}, len(holds)+len(evidence) == 0
}

// latest are the latest comments, with a lower limit for those by outsiders.
func (o outsiders) latest(comments []forge.Comment, what string) []Passage {
	var all []Passage
	outside := 0
	for _, c := range slices.Backward(comments) {
		p, ok := o.passage(what, c.Author.Login, c.Body)
		if !ok || len(all) == maxRemarks || o[c.Author.Login] && outside == maxOutside {
			continue
		}
		if o[c.Author.Login] {
			outside++
		}
		all = append(all, p)
	}
	slices.Reverse(all)
	return all
}

// statements is what people wrote about the change: the issues that it closes, and the latest comments. It
// leaves out what agents wrote and what the ledger already says.
func statements(pr forge.PullRequest, l verdict.Ledger, outside outsiders) []Passage {
	var all []Passage
	for _, issue := range pr.Issues {
		all = append(all, Passage{fmt.Sprintf("issue %d, which it closes", issue.Number), issue.Title + "\n\n" + issue.Body})
	}
	var comments []forge.Comment
	for _, c := range pr.Comments {
		text, own := verdict.Unmarked(c.Body)
		if c.Body = withoutOrder(text, l); c.ByPerson && !own && c.Body != "" && !verdict.SameLogin(c.Author.Login, pr.Viewer) {
			comments = append(comments, c)
		}
	}
	return append(all, outside.latest(comments, "comment by ")...)
}

// withoutOrder is a comment without the order at its beginning, if the order has no reason or the ledger has
// the reason.
func withoutOrder(text string, l verdict.Ledger) string {
	first, rest, _ := strings.Cut(text, "\n")
	order, ok := verdict.ParseCommand(first)
	told := slices.ContainsFunc(l, func(e verdict.Entry) bool {
		return e.ID == order.Finding && e.Said != nil && e.Said.Why == order.Reason
	})
	if !ok || order.Verb == verdict.BreakGlass || order.Finding != "" && !told {
		return text
	}
	return strings.TrimSpace(rest)
}

// reported is what CI reports about the head.
func (r *Reviewer) reported(ctx context.Context, pr forge.PullRequest) ([]Passage, error) {
	if len(pr.Checks) == 0 {
		return nil, nil
	}
	var list strings.Builder
	failed := false
	for _, c := range pr.Checks {
		fmt.Fprintf(&list, "- %s: %s\n", verdict.OneLine(c.Name), c.State)
		failed = failed || c.State == forge.CheckFailure
	}
	all := []Passage{{"checks of the head", list.String()}}
	if !failed {
		return all, nil
	}
	checks, err := r.Read.FailedChecks(ctx, pr.Ref.Repo, pr.Head.SHA)
	if err != nil {
		return nil, err
	}
	for _, c := range checks {
		all = append(all, Passage{"failed check " + c.Name, forge.Tail(strings.TrimSpace(c.Summary+"\n\n"+c.Text), maxPassage)})
	}
	return all, nil
}

// ci sums up the checks of the head: those that the base branch requires, or else all. It is empty without
// checks.
func ci(pr forge.PullRequest) string {
	checks := slices.Clone(pr.Checks)
	if slices.ContainsFunc(checks, func(c forge.Check) bool { return c.Required }) {
		checks = slices.DeleteFunc(checks, func(c forge.Check) bool { return !c.Required })
	}
	said := ""
	for _, c := range checks {
		switch c.State {
		case forge.CheckSkipped, forge.CheckNeutral:
		case forge.CheckSuccess:
			said = cmp.Or(said, "CI green")
		case forge.CheckFailure:
			return "CI failed"
		default:
			said = "CI pending"
		}
	}
	return said
}

// raised are the texts in which this login first raised the findings of its earlier rounds, by id. Edited
// texts are left out.
func raised(pr forge.PullRequest) map[string]string {
	all := map[string]string{}
	take := func(author forge.User, edited *time.Time, text string) {
		if edited != nil || !verdict.SameLogin(author.Login, pr.Viewer) {
			return
		}
		for id, described := range verdict.Raised(text) {
			if all[id] == "" {
				all[id] = described
			}
		}
	}
	for _, t := range pr.Threads {
		if len(t.Comments) > 0 {
			take(t.Comments[0].Author, t.Comments[0].EditedAt, t.Comments[0].Body)
		}
	}
	for _, review := range pr.Reviews {
		take(review.Author, review.EditedAt, review.Body)
	}
	for _, c := range pr.Comments { // a review that is too long continues in comments
		take(c.Author, c.EditedAt, c.Body)
	}
	return all
}

// threads are the conversations about this login's own findings.
func threads(pr forge.PullRequest, outside outsiders) []Thread {
	var all []Thread
	for _, t := range pull.FindingThreads(pr, []string{pr.Viewer}) {
		if t.Comments[0].EditedAt != nil {
			continue
		}
		thread := Thread{ID: t.ID, Comment: t.Comments[0].ID, Finding: t.Finding, URL: t.Comments[0].URL, Resolved: t.Resolved,
			ResolvedBy: t.ResolvedBy.Login}
		var replies []forge.Comment
		for _, c := range t.Comments[1:] {
			if !verdict.SameLogin(c.Author.Login, pr.Viewer) {
				text, _ := verdict.Unmarked(c.Body)
				replies = append(replies, forge.Comment{Author: c.Author, Body: text})
			}
		}
		thread.Replies = outside.latest(replies, "")
		all = append(all, thread)
	}
	return all
}

// tripped counts, by rule, the other recent pull requests in which this login found the rule broken.
func (r *Reviewer) tripped(ctx context.Context, pr forge.PullRequest) (map[string]int, error) {
	past, _, err := r.Read.History(ctx, pr.Ref.Repo, pr.UpdatedAt.Add(-pastSpan), maxPast)
	if err != nil {
		return nil, fmt.Errorf("look for rules that tripped before: %w", err)
	}
	count := map[string]int{}
	for _, other := range past {
		if other.Ref == pr.Ref {
			continue
		}
		record := latestOf(other.Reviews, pr.Viewer)
		rules := map[string]bool{}
		for _, e := range record.Ledger {
			rules[e.Rule] = rules[e.Rule] || e.Rule != "" && e.Severity.Blocks() && !e.Status.Wrong()
		}
		for rule, tripped := range rules {
			if tripped {
				count[rule]++
			}
		}
	}
	return count, nil
}

// latest returns this login's latest review and its record; zero before the first review. An edited review
// only counts if its signature proves that the record was not changed. If two machines posted a review in the
// same round, it is the one that was not withdrawn, or the one that requests changes if neither was.
func (r *Reviewer) latest(pr forge.PullRequest) (record verdict.Record, review forge.SubmittedReview) {
	for _, rev := range pr.Reviews {
		rec, ok := r.own(pr, rev)
		heavier := rev.State == forge.ChangesRequested && review.State == forge.Approved
		if ok && (rec.Round > record.Round || rec.Round == record.Round && (review.State == forge.Dismissed || heavier)) {
			record, review = rec, rev
		}
	}
	return record, review
}

// latestOf is the record of a login's latest review, for pull requests of which only the reviews are known.
func latestOf(reviews []forge.SubmittedReview, login string) (record verdict.Record) {
	for _, rev := range reviews {
		rec, err := verdict.ParseRecord(rev.Body)
		if err == nil && verdict.SameLogin(rev.Author.Login, login) && rev.EditedAt == nil && rec.Round >= record.Round {
			record = rec
		}
	}
	return record
}

// own is the record of a review that only this login's agent can have written.
func (r *Reviewer) own(pr forge.PullRequest, rev forge.SubmittedReview) (verdict.Record, bool) {
	sealed, err := verdict.ParseSealed(rev.Body)
	if err != nil || !verdict.SameLogin(rev.Author.Login, pr.Viewer) || rev.EditedAt != nil && sealed.Key == nil {
		return verdict.Record{}, false
	}
	return r.Trust.Record(pr, rev)
}

// earlier are the records of this login's reviews, by round.
func (r *Reviewer) earlier(pr forge.PullRequest) map[int]verdict.Record {
	seen := map[int]verdict.Record{}
	for _, rev := range pr.Reviews {
		if rec, ok := r.own(pr, rev); ok {
			seen[rec.Round] = rec
		}
	}
	return seen
}

// Standing is the latest verdict of this login on the present head and base branch, and the URL of the
// review. Dismissed and edited reviews do not count, nor any before a review of this head for another base.
func Standing(pr forge.PullRequest) (v verdict.Verdict, url string, ok bool) {
	rec, url := newest(pr)
	if url == "" || rec.BaseBranch != pr.Base.Name {
		return "", "", false
	}
	return rec.Verdict, url, true
}

// newest is this login's latest review of the present head, for whatever base, that was neither dismissed nor edited.
// The URL is "" if there is none.
func newest(pr forge.PullRequest) (record verdict.Record, url string) {
	for _, rev := range slices.Backward(pr.Reviews) {
		if !verdict.SameLogin(rev.Author.Login, pr.Viewer) || rev.SHA != pr.Head.SHA || rev.State == forge.Dismissed || rev.EditedAt != nil {
			continue
		}
		if rec, err := verdict.ParseRecord(rev.Body); err == nil {
			return rec, rev.URL
		}
	}
	return verdict.Record{}, ""
}

package githubsim_test

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-github/v66/github"

	"touchstone/agent/githubsim"
)

//go:embed testdata/pull.graphql
var pullQuery string

// answer is a GraphQL response that tests dig in.
type answer struct {
	Data   map[string]any
	Errors []struct{ Type, Message string }
}

// at follows names and indexes, such as "repository.pullRequest.reviews.nodes.0".
func (a answer) at(t testing.TB, path string) any {
	t.Helper()
	var value any = a.Data
	for name := range strings.SplitSeq(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[name]
		case []any:
			var i int
			if _, err := fmt.Sscan(name, &i); err != nil || i >= len(v) {
				t.Fatalf("%s: no element %s in %v", path, name, v)
			}
			value = v[i]
		default:
			t.Fatalf("%s: %v has no %s; errors %v", path, value, name, a.Errors)
		}
	}
	return value
}

func (w *world) query(login, query string, variables map[string]any) answer {
	w.t.Helper()
	client := w.As(login)
	req, err := client.NewRequest("POST", w.URL+"/api/graphql", map[string]any{"query": query, "variables": variables})
	if err != nil {
		w.t.Fatal(err)
	}
	var raw json.RawMessage
	if _, err := client.Do(w.t.Context(), req, &raw); err != nil {
		w.t.Fatal(err)
	}
	var a answer
	if err := json.Unmarshal(raw, &a); err != nil {
		w.t.Fatal(err)
	}
	return a
}

func pullVariables(number int) map[string]any {
	return map[string]any{"owner": "acme", "name": "app", "number": number}
}

func TestPullRequestByGraphQL(t *testing.T) {
	guarded := githubsim.Protection{RequiredChecks: []string{githubsim.CIName}, Approvals: 1}
	w := start(t, ciThat("success"), githubsim.RepoOptions{Protected: map[string]githubsim.Protection{"main": guarded}})
	pr := w.open("feature", map[string]string{"a.txt": "a\n"})
	ctx, n := t.Context(), pr.GetNumber()
	must(w.As(author).PullRequests.RequestReviewers(ctx, "acme", "app", n, github.ReviewersRequest{Reviewers: []string{reviewer, bot}}))(t)
	must(w.As(author).Issues.AddLabelsToIssue(ctx, "acme", "app", n, []string{"needs-human"}))(t)
	must(w.As(author).Issues.CreateComment(ctx, "acme", "app", n, &github.IssueComment{Body: github.String("hello")}))(t)
	must(w.As(author).Repositories.CreateStatus(ctx, "acme", "app", pr.GetHead().GetSHA(),
		&github.RepoStatus{State: github.String("pending"), Context: github.String("ext")}))(t)

	a := w.query(reviewer, pullQuery, pullVariables(n))
	for path, want := range map[string]any{
		"viewer.login":                                                                                reviewer,
		"repository.nameWithOwner":                                                                    repoName,
		"repository.viewerPermission":                                                                 "WRITE",
		"repository.pullRequest.mergeable":                                                            "MERGEABLE",
		"repository.pullRequest.mergeStateStatus":                                                     "BLOCKED",
		"repository.pullRequest.headRefOid":                                                           pr.GetHead().GetSHA(),
		"repository.pullRequest.mergeCommit":                                                          nil,
		"repository.pullRequest.labels.nodes.0.name":                                                  "needs-human",
		"repository.pullRequest.comments.nodes.0.body":                                                "hello",
		"repository.pullRequest.reviewRequests.nodes.0.requestedReviewer.__typename":                  "User",
		"repository.pullRequest.reviewRequests.nodes.1.requestedReviewer.__typename":                  "Bot",
		"repository.pullRequest.reviews.pageInfo.hasPreviousPage":                                     false,
		"repository.pullRequest.commits.nodes.0.commit.statusCheckRollup.state":                       "PENDING",
		"repository.pullRequest.commits.nodes.0.commit.statusCheckRollup.contexts.nodes.0.conclusion": "SUCCESS",
		"repository.pullRequest.commits.nodes.0.commit.statusCheckRollup.contexts.nodes.0.isRequired": true,
		"repository.pullRequest.commits.nodes.0.commit.statusCheckRollup.contexts.nodes.1.__typename": "StatusContext",
		"repository.pullRequest.commits.nodes.0.commit.statusCheckRollup.contexts.nodes.1.isRequired": false,
	} {
		if got := a.at(t, path); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	if len(a.Errors) > 0 {
		t.Error(a.Errors)
	}
}

func TestReviewsPageBackwards(t *testing.T) {
	w := start(t, nil, githubsim.RepoOptions{})
	n := w.open("feature", map[string]string{"a.txt": "a\n"}).GetNumber()
	for i := range 53 {
		must(w.As(reviewer).PullRequests.CreateReview(t.Context(), "acme", "app", n, &github.PullRequestReviewRequest{
			Event: github.String("COMMENT"), Body: github.String(fmt.Sprint("review ", i)),
		}))(t)
	}
	const reviews = "repository.pullRequest.reviews."
	newest := w.query(reviewer, pullQuery, pullVariables(n))
	if first := newest.at(t, reviews+"nodes.0.body"); first != "review 3" || newest.at(t, reviews+"pageInfo.hasPreviousPage") != true {
		t.Fatalf("the last page starts with %v", first)
	}
	vars := pullVariables(n)
	vars["reviewsBefore"] = newest.at(t, reviews+"pageInfo.startCursor")
	oldest := w.query(reviewer, pullQuery, vars)
	if list := oldest.at(t, reviews+"nodes").([]any); len(list) != 3 || oldest.at(t, reviews+"pageInfo.hasPreviousPage") != false {
		t.Fatalf("the page before has %d reviews", len(list))
	}
}

func TestDraftsByGraphQL(t *testing.T) {
	w := start(t, nil, githubsim.RepoOptions{})
	in := w.listen("json", "pull_request")
	pr := w.open("feature", map[string]string{"a.txt": "a\n"})
	vars := map[string]any{"id": pr.GetNodeID()}
	a := w.query(author, `mutation($id: ID!) { convertPullRequestToDraft(input: {pullRequestId: $id}) { pullRequest { isDraft } } }`, vars)
	if a.at(t, "convertPullRequestToDraft.pullRequest.isDraft") != true {
		t.Fatal(a)
	}
	a = w.query(author, `mutation($id: ID!) { m: markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } } }`,
		vars)
	if a.at(t, "m.pullRequest.isDraft") != false {
		t.Fatal(a)
	}
	w.Settle()
	if got := strings.Join(in.kinds()[2:], " "); got != "pull_request/converted_to_draft pull_request/ready_for_review" {
		t.Fatal(got)
	}
}

func TestOpenPullRequestsByGraphQL(t *testing.T) {
	w := start(t, nil, githubsim.RepoOptions{})
	for _, branch := range []string{"one", "two", "three"} {
		w.open(branch, map[string]string{branch + ".txt": "a\n"})
	}
	must(w.As(author).PullRequests.Edit(t.Context(), "acme", "app", 2, &github.PullRequest{State: github.String("closed")}))(t)
	a := w.query(reviewer, `{ repository(owner: "acme", name: "app") {
		pullRequests(states: [OPEN], first: 1, orderBy: {field: CREATED_AT, direction: DESC}) {
			totalCount nodes { ...short } pageInfo { hasNextPage endCursor } }
		closed: pullRequests(states: [CLOSED], first: 10) { nodes { ...short } }
	} } fragment short on PullRequest { number headRefOid isDraft author { login } updatedAt }`, nil)
	if a.at(t, "repository.pullRequests.nodes.0.number") != 3.0 || a.at(t, "repository.pullRequests.totalCount") != 2.0 ||
		a.at(t, "repository.pullRequests.pageInfo.hasNextPage") != true || a.at(t, "repository.closed.nodes.0.number") != 2.0 {
		t.Fatal(a)
	}
}

func TestGraphQLErrors(t *testing.T) {
	w := start(t, nil, githubsim.RepoOptions{Private: true, Permissions: map[string]string{author: "write"}})
	for name, tt := range map[string]struct{ login, query, want, kind string }{
		"unknown pull request": {author, `{ repository(owner: "acme", name: "app") { pullRequest(number: 9) { id } } }`, "number of 9",
			"NOT_FOUND"},
		"invisible repository": {reviewer, `{ repository(owner: "acme", name: "app") { id } }`, "Could not resolve", "NOT_FOUND"},
		"not simulated":        {author, `{ viewer { bio } }`, "User.bio is not simulated", ""},
		"unbounded connection": {author, `{ repository(owner: "acme", name: "app") { pullRequests { totalCount } } }`, "`first` or `last`", ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := w.query(tt.login, tt.query, nil)
			if len(a.Errors) != 1 || !strings.Contains(a.Errors[0].Message, tt.want) || a.Errors[0].Type != tt.kind {
				t.Fatalf("errors %+v, want one that says %q", a.Errors, tt.want)
			}
		})
	}
}

func TestAReplyStartsWithoutReactions(t *testing.T) {
	w := start(t, nil, githubsim.RepoOptions{})
	n, ctx := w.open("feature", map[string]string{"a.txt": "a\n"}).GetNumber(), t.Context()
	must(w.As(reviewer).PullRequests.CreateReview(ctx, "acme", "app", n, &github.PullRequestReviewRequest{Event: github.String("COMMENT"),
		Comments: []*github.DraftReviewComment{{Path: github.String("a.txt"), Line: github.Int(1), Body: github.String("Why?")}}}))(t)
	root := must(w.As(author).PullRequests.ListComments(ctx, "acme", "app", n, nil))(t)[0].GetID()
	w.Must(w.React(author, repoName, root, "THUMBS_UP"))
	w.send("POST", author, fmt.Sprintf("repos/acme/app/pulls/%d/comments/%d/replies", n, root), `{"body":"Because."}`)
	a := w.query(author, `query($owner: String!, $name: String!, $number: Int!) { repository(owner: $owner, name: $name) {
		pullRequest(number: $number) { reviewThreads(first: 1) { nodes { comments(first: 2) { nodes { reactionGroups { content } } } } } } } }`,
		pullVariables(n))
	const comments = "repository.pullRequest.reviewThreads.nodes.0.comments.nodes."
	first, _ := a.at(t, comments+"0.reactionGroups").([]any)
	second, _ := a.at(t, comments+"1.reactionGroups").([]any)
	if len(first) != 1 || len(second) != 0 {
		t.Errorf("the comment has %v and the reply %v, want one reaction and none", first, second)
	}
}

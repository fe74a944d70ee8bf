package forge

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// page is an answer to the pull request query, with holes wherever GitHub's schema allows them.
func page(head, updated, comments string) string {
	return fmt.Sprintf(`{"data":{"viewer":{"login":"hubot"},"repository":{"nameWithOwner":"acme/app","viewerPermission":null,"pullRequest":{
		"id":"PR_1","number":12,"title":"Add it","body":"","url":"https://github.com/acme/app/pull/12","state":"OPEN","isDraft":false,"merged":false,
		"mergeable":"SOMETHING_NEW","mergeStateStatus":"CLEAN","isCrossRepository":true,"isInMergeQueue":false,"isMergeQueueEnabled":true,"createdAt":"2026-01-02T03:04:05Z","updatedAt":%q,"mergedAt":null,"mergedBy":null,
		"author":null,"headRefName":"topic","headRef":{},"headRefOid":%q,"headRepository":null,"baseRefName":"main","baseRef":null,"mergeCommit":{"oid":"0123"},
		"labels":{"nodes":[],"pageInfo":{"hasNextPage":false}},
		"reviewRequests":{"nodes":[{"requestedReviewer":null},{"requestedReviewer":{"__typename":"Team"}},{"requestedReviewer":{"__typename":"Bot","login":"helper"}}],"pageInfo":{"hasNextPage":false}},
		"reviews":{"nodes":[
			{"fullDatabaseId":"3000000001","author":{"login":"linter","__typename":"Bot"},"state":"COMMENTED","body":"","submittedAt":"2026-01-02T03:04:05Z","lastEditedAt":"2026-01-02T03:05:00Z","commit":null,"url":"u"},
			{"fullDatabaseId":"3000000002","author":{"login":"hubot","__typename":"User"},"state":"PENDING","body":"","submittedAt":null,"lastEditedAt":null,"commit":null,"url":"u"}],
			"pageInfo":{"hasPreviousPage":false,"startCursor":"r"}},
		"comments":%s,
		"reviewThreads":{"nodes":[{"id":"T","isResolved":true,"resolvedBy":null,
			"comments":{"nodes":[{"fullDatabaseId":"7","author":null,"body":"x","createdAt":"2026-01-02T03:04:05Z","lastEditedAt":null,"url":"u"}]}}],
			"pageInfo":{"hasPreviousPage":false,"startCursor":"t"}},
		"closingIssuesReferences":{"nodes":[null,{"number":3,"title":"It crashes","body":"","labels":null}]},
		"commits":{"nodes":[{"commit":{"oid":"abc","statusCheckRollup":{"contexts":{"nodes":[
			{"__typename":"CheckRun","name":"build","status":"COMPLETED","conclusion":"SOMETHING_NEW","detailsUrl":null,"title":null,"isRequired":true,"checkSuite":{"app":null}},
			{"__typename":"StatusContext","context":"lint","state":"EXPECTED","targetUrl":null,"description":null,"isRequired":true}],
			"pageInfo":{"hasNextPage":false,"endCursor":"c"}}}}}]}}}},
		"errors":[{"type":"FORBIDDEN","path":["repository","pullRequest","closingIssuesReferences","nodes",0],"message":"Resource protected by organization SAML enforcement."}]}`, updated, head, comments)
}

const (
	noComments   = `{"nodes":[],"pageInfo":{"hasPreviousPage":false,"startCursor":null}}`
	moreComments = `{"nodes":[{"fullDatabaseId":1,"author":null,"body":"x","createdAt":"2026-01-02T03:04:05Z"}],` +
		`"pageInfo":{"hasPreviousPage":true,"startCursor":"k"}}`
	then = "2026-01-02T03:04:05Z"
)

func TestHolesInAnAnswer(t *testing.T) {
	c := client(t, func(*http.Request) (*http.Response, error) { return answer(200, page("abc", then, noComments)), nil })
	pr, err := c.PullRequest(t.Context(), pull)
	if err != nil {
		t.Fatal(err)
	}
	edited := time.Date(2026, 1, 2, 3, 5, 0, 0, time.UTC)
	want := PullRequest{
		Ref: pull, ID: "PR_1", Title: "Add it", URL: "https://github.com/acme/app/pull/12", Author: User{Login: "ghost"},
		Open: true, Fork: true, Queue: true,
		Head: Branch{Name: "topic", SHA: "abc"}, Base: Branch{Repo: pull.Repo, Name: "main"}, Requested: []string{"helper[bot]"},
		Reviews: []SubmittedReview{{ID: 3000000001, Author: User{"linter[bot]", true, 0}, State: Commented,
			SubmittedAt: edited.Add(-55 * time.Second), EditedAt: &edited, EditedBy: User{Login: "ghost"}, URL: "u"}},
		Checks: []Check{
			{Name: "build", Kind: CheckRun, State: CheckFailure, Required: true},
			{Name: "lint", By: User{Login: "ghost"}, Kind: Status, State: CheckPending, Required: true},
		},
		Threads: []Thread{{
			ID: "T", Resolved: true, ResolvedBy: User{Login: "ghost"},
			Comments: []Comment{{
				ID: 7, Author: User{Login: "ghost"}, InReview: true, Body: "x", CreatedAt: edited.Add(-55 * time.Second), URL: "u",
			}},
		}},
		Issues:    []Issue{{Number: 3, Title: "It crashes"}},
		Mergeable: MergeableUnknown, CreatedAt: edited.Add(-55 * time.Second), UpdatedAt: edited.Add(-55 * time.Second), Viewer: "hubot",
	}
	if !reflect.DeepEqual(pr, want) {
		got, _ := json.MarshalIndent(pr, "", " ")
		t.Errorf("got %s", got)
	}
	if pr.ViewerPermission.CanWrite() {
		t.Error("no permission is taken for write access")
	}
}

// A workflow that has begun, or may not begin, shows before any of its jobs does.
func TestWorkflowsThatHaveNotReported(t *testing.T) {
	suite := func(app, status, conclusion string) string {
		return fmt.Sprintf(`{"status":%q,"conclusion":%q,"url":"u","app":{"slug":%q}}`, status, conclusion, app)
	}
	jobs := func(n int, conclusion, workflow string, number int) string {
		return strings.TrimSuffix(suite(Actions, "COMPLETED", conclusion), "}") + fmt.Sprintf(`,"checkRuns":{"totalCount":%d},"workflowRun":`+
			`{"runNumber":%d,"event":"pull_request","workflow":{"id":%q}}}`, n, number, workflow)
	}
	for name, tc := range map[string]struct {
		suite string
		run   string // a job that is listed
		want  CheckState
	}{
		"cancelled before its first job":         {suite: jobs(0, "CANCELLED", "W1", 7), want: CheckActionRequired},
		"failed before its first job":            {suite: jobs(0, "FAILURE", "W1", 7), want: CheckActionRequired},
		"cancelled, as its job says":             {suite: jobs(1, "CANCELLED", "W1", 7)},
		"without a job, and nothing to complain": {suite: jobs(0, "SKIPPED", "W1", 7)},
		"cancelled without a job, and run again": {suite: jobs(0, "CANCELLED", "W1", 7) + "," + jobs(1, "SUCCESS", "W1", 8)},
		"cancelled without a job, later one skipped all": {suite: jobs(0, "CANCELLED", "W1", 7) + "," + jobs(1, "SKIPPED", "W1", 8),
			want: CheckActionRequired},
		"cancelled without a job, after it ran": {suite: jobs(1, "SUCCESS", "W1", 6) + "," + jobs(0, "CANCELLED", "W1", 7),
			want: CheckActionRequired},
		"cancelled without a job, another passes": {suite: jobs(0, "CANCELLED", "W1", 7) + "," + jobs(1, "SUCCESS", "W2", 8),
			want: CheckActionRequired},
		"begun": {suite: suite(Actions, "QUEUED", ""), want: CheckPending},
		"between two jobs": {suite: suite(Actions, "IN_PROGRESS", ""), run: `"COMPLETED","conclusion":"SUCCESS"`,
			want: CheckPending},
		"a job is listed":                 {suite: suite(Actions, "IN_PROGRESS", ""), run: `"IN_PROGRESS","conclusion":null`},
		"over":                            {suite: suite(Actions, "COMPLETED", "SUCCESS")},
		"failed, as its job says":         {suite: suite(Actions, "COMPLETED", "FAILURE")},
		"waits for approval":              {suite: suite(Actions, "COMPLETED", "ACTION_REQUIRED"), want: CheckActionRequired},
		"could not start":                 {suite: suite(Actions, "COMPLETED", "STARTUP_FAILURE"), want: CheckActionRequired},
		"of an app that may never report": {suite: suite("helper", "QUEUED", "")},
		"of an app that is gone":          {suite: `{"status":"QUEUED","conclusion":null,"url":"u","app":null}`},
		"the second of several is running": {suite: suite(Actions, "COMPLETED", "SUCCESS") + "," + suite(Actions, "QUEUED", ""),
			want: CheckPending},
	} {
		contexts := ""
		if tc.run != "" {
			contexts = `{"__typename":"CheckRun","name":"build","status":` + tc.run +
				`,"isRequired":false,"checkSuite":{"app":{"slug":"github-actions"}}}`
		}
		body := page("abc", then, noComments)
		before, _, _ := strings.Cut(body, `"statusCheckRollup"`)
		_, after, _ := strings.Cut(body, `{"__typename":"StatusContext"`)
		_, after, _ = strings.Cut(after, `}`)
		body = before + `"checkSuites":{"nodes":[` + tc.suite +
			`],"pageInfo":{"hasNextPage":false,"endCursor":"s"}},"statusCheckRollup":{"contexts":{"nodes":[` + contexts + after
		c := client(t, func(*http.Request) (*http.Response, error) { return answer(200, body), nil })
		pr, err := c.PullRequest(t.Context(), pull)
		if err != nil {
			t.Fatal(err)
		}
		var got CheckState
		for _, check := range pr.Checks {
			if check.Name == "GitHub Actions" {
				got = check.State
				if !check.Unlisted() || tc.want == CheckActionRequired && !strings.Contains(check.Summary, ": see u") {
					t.Errorf("%s: unlisted %v, %q", name, check.Unlisted(), check.Summary)
				}
			}
		}
		if got != tc.want {
			t.Errorf("%s: it shows as %q; want %q", name, got, tc.want)
		}
	}
}

func TestASnapshotThatNeverHolds(t *testing.T) {
	for name, pages := range map[string]func(n int) string{
		"the commit lags behind the head":   func(int) string { return page("def", then, noComments) },
		"something changes with every page": func(n int) string { return page("abc", fmt.Sprintf("2026-01-02T03:04:%02dZ", n), moreComments) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := 0
				c := client(t, func(*http.Request) (*http.Response, error) { n++; return answer(200, pages(n)), nil })
				pr, err := c.PullRequest(t.Context(), pull)
				if !errors.Is(err, ErrUnavailable) || !reflect.DeepEqual(pr, PullRequest{}) {
					t.Errorf("%v, %v; want nothing and ErrUnavailable", pr, err)
				}
			})
		})
	}
}

// TestALongReadingEndsWhereItBegan checks that a state read with several requests is the state at the last
// answer.
func TestALongReadingEndsWhereItBegan(t *testing.T) {
	for name, tc := range map[string]struct {
		changesAt int // the request that is the first to see a change
		requests  int
	}{"nothing changes": {100, 3}, "a check fails meanwhile": {3, 6}} {
		synctest.Test(t, func(t *testing.T) {
			n := 0
			c := client(t, func(*http.Request) (*http.Response, error) {
				n++
				comments, state := moreComments, "SUCCESS"
				if n == 2 || n == 5 {
					comments = strings.Replace(moreComments, "true", "false", 1)
				}
				if n >= tc.changesAt {
					state = "FAILURE"
				}
				return answer(200, strings.Replace(page("abc", then, comments), "EXPECTED", state, 1)), nil
			})
			pr, err := c.PullRequest(t.Context(), pull)
			if err != nil || n != tc.requests || len(pr.Comments) != 2 {
				t.Fatalf("%s: %d requests, %d comments, %v", name, n, len(pr.Comments), err)
			}
			if failed := pr.Checks[len(pr.Checks)-1].State == CheckFailure; failed != (tc.requests == 6) {
				t.Errorf("%s: the checks are %+v", name, pr.Checks)
			}
		})
	}
}

func TestBoundsAreErrors(t *testing.T) {
	for name, test := range map[string]struct {
		body            string
		pages, comments int
		why             string
	}{
		"comments without end": {page("abc", then, moreComments), snapshotPages, snapshotPages, "1,000 comments"},
		"too many labels": {strings.Replace(page("abc", then, noComments), `"hasNextPage":false`, `"hasNextPage":true`, 1), 1, 0,
			"100 labels"},
		"a thread without end": {strings.Replace(page("abc", then, noComments), `"url":"u"}]}}`,
			`"url":"u"}],"pageInfo":{"hasPreviousPage":true,"startCursor":"k"}}}`, 1), 1 + snapshotPages, 0,
			"2,000 comments in long threads"},
	} {
		n := 0
		c := client(t, func(r *http.Request) (*http.Response, error) {
			n++
			asked, err := io.ReadAll(r.Body)
			if strings.Contains(string(asked), "query Thread(") {
				return answer(200, `{"data":{"node":{"comments":`+moreComments+`}}}`), err
			}
			return answer(200, test.body), err
		})
		pr, err := c.PullRequest(t.Context(), pull)
		if !errors.Is(err, ErrUnreadable) || !strings.Contains(err.Error(), "more than "+test.why) ||
			!strings.Contains(err.Error(), "by hand") || n != test.pages {
			t.Errorf("%s: after %d pages %v; want ErrUnreadable after %d", name, n, err, test.pages)
		}
		if pr.Head.SHA != "abc" || !pr.Open || len(pr.Comments) != test.comments {
			t.Errorf("%s: with it comes %+v", name, pr)
		}
	}
	const pulls = `{"data":{"repository":{"pullRequests":{"nodes":[%s],"pageInfo":{"hasNextPage":true,"endCursor":%q}}}}}`
	n := 0
	c := client(t, func(*http.Request) (*http.Response, error) {
		n++
		return answer(200, fmt.Sprintf(pulls, strings.Repeat(`{"number":1},`, 999)+`{"number":2}`, fmt.Sprint(n))), nil
	})
	if list, err := c.OpenPullRequests(t.Context(), pull.Repo); err == nil || n != 6 {
		t.Errorf("%d pull requests in %d pages, %v; want an error on the sixth", len(list), n, err)
	}
	c = client(t, func(*http.Request) (*http.Response, error) { return answer(200, fmt.Sprintf(pulls, "", "same")), nil })
	if _, err := c.OpenPullRequests(t.Context(), pull.Repo); !errors.Is(err, ErrUnavailable) {
		t.Errorf("pages that do not end: %v", err)
	}
}

func TestCheckStates(t *testing.T) {
	for _, test := range []struct {
		status, conclusion string
		want               CheckState
	}{
		{"QUEUED", "", CheckPending}, {"IN_PROGRESS", "", CheckPending}, {"WAITING", "", CheckPending}, {"", "SUCCESS", CheckPending},
		{"COMPLETED", "SUCCESS", CheckSuccess}, {"completed", "neutral", CheckNeutral}, {"COMPLETED", "SKIPPED", CheckSkipped},
		{"COMPLETED", "CANCELLED", CheckCancelled}, {"COMPLETED", "ACTION_REQUIRED", CheckActionRequired},
		{"COMPLETED", "FAILURE", CheckFailure}, {"COMPLETED", "TIMED_OUT", CheckFailure}, {"COMPLETED", "STALE", CheckStale},
		{"COMPLETED", "STARTUP_FAILURE", CheckStartupFailure}, {"COMPLETED", "", CheckFailure}, {"COMPLETED", "PENDING", CheckFailure},
	} {
		if got := runState(test.status, test.conclusion); got != test.want {
			t.Errorf("%s %s is %s; want %s", test.status, test.conclusion, got, test.want)
		}
	}
	for state, want := range map[string]CheckState{
		"SUCCESS": CheckSuccess, "pending": CheckPending, "EXPECTED": CheckPending, "error": CheckFailure, "FAILURE": CheckFailure,
		"": CheckFailure,
	} {
		if got := statusState(state); got != want {
			t.Errorf("status %q is %s; want %s", state, got, want)
		}
	}
}

// FuzzSnapshot: reading any answer of a server ends, and a success is of the pull request that was asked for.
func FuzzSnapshot(f *testing.F) {
	f.Add(page("abc", then, noComments))
	f.Add(page("abc", then, strings.Replace(moreComments, "true", "false", 1)))
	f.Add(`{"data":{"viewer":null,"repository":{"nameWithOwner":"acme/app","pullRequest":{"state":"MERGED"}}}}`)
	f.Add(`{"data":{"repository":{"nameWithOwner":"acme/app","pullRequest":{"state":"OPEN"}}}}`)
	f.Add(`{"data":{"repository":{"nameWithOwner":"initech/app","pullRequest":{"state":"OPEN"}}}}`)
	f.Add(`{"data":null,"errors":[{"type":"NOT_FOUND","message":"no"}]}`)
	f.Fuzz(func(t *testing.T, body string) {
		synctest.Test(t, func(t *testing.T) {
			c := client(t, func(r *http.Request) (*http.Response, error) {
				if _, err := io.Copy(io.Discard, r.Body); err != nil {
					return nil, err
				}
				return answer(200, body), nil
			})
			pr, err := c.PullRequest(t.Context(), pull)
			if err == nil && (pr.Ref != pull || pr.Author.Login == "" || pr.Open && pr.Head.SHA == "") {
				t.Errorf("read %s by %q, open %t at %q", pr, pr.Author.Login, pr.Open, pr.Head.SHA)
			}
		})
	})
}

// GitHub answers whether it merges and what the rules say to that at different times, and adds answers.
func TestOnlyKnownAnswersAreClean(t *testing.T) {
	for _, tc := range []struct {
		state, status string
		want          Mergeable
	}{
		{"MERGEABLE", "CLEAN", MergeableClean}, {"MERGEABLE", "UNSTABLE", MergeableClean}, {"MERGEABLE", "HAS_HOOKS", MergeableClean},
		{"MERGEABLE", "BEHIND", MergeableClean}, {"MERGEABLE", "BLOCKED", MergeableClean},
		{"MERGEABLE", "UNKNOWN", MergeableUnknown}, {"MERGEABLE", "DIRTY", MergeableUnknown}, {"MERGEABLE", "DRAFT", MergeableUnknown},
		{"MERGEABLE", "SOMETHING_NEW", MergeableUnknown}, {"MERGEABLE", "", MergeableUnknown},
		{"UNKNOWN", "CLEAN", MergeableUnknown}, {"SOMETHING_NEW", "CLEAN", MergeableUnknown}, {"", "", MergeableUnknown},
		{"CONFLICTING", "DIRTY", MergeableConflicting}, {"CONFLICTING", "UNKNOWN", MergeableConflicting},
	} {
		answers := fmt.Sprintf(`"mergeable":%q,"mergeStateStatus":%q`, tc.state, tc.status)
		answered := strings.Replace(page("abc", then, noComments), `"mergeable":"SOMETHING_NEW","mergeStateStatus":"CLEAN"`, answers, 1)
		c := client(t, func(*http.Request) (*http.Response, error) { return answer(200, answered), nil })
		pr, err := c.PullRequest(t.Context(), pull)
		if err != nil || pr.Mergeable != tc.want {
			t.Errorf("%s and %s are %s, %v; want %s", tc.state, tc.status, pr.Mergeable, err, tc.want)
		}
	}
}

func TestSharedBranches(t *testing.T) {
	const ruled = `{"refUpdateRule":{"requiredApprovingReviewCount":1}}`
	for name, tc := range map[string]struct {
		byDefault, ref, cross string
		want                  bool
	}{
		"a branch of its own":       {`{"name":"main"}`, `{"refUpdateRule":null}`, "false", false},
		"the default branch":        {`{"name":"topic"}`, `null`, "false", true},
		"one that reviews guard":    {`null`, ruled, "false", true},
		"one with other rules only": {`{"name":"main"}`, `{"refUpdateRule":{"requiredApprovingReviewCount":0}}`, "false", false},
		"a fork's default branch":   {`{"name":"topic"}`, ruled, "true", false},
	} {
		answered := strings.Replace(page("abc", then, noComments), `"viewerPermission":null,`,
			`"viewerPermission":null,"defaultBranchRef":`+tc.byDefault+`,`, 1)
		answered = strings.Replace(answered, `"isCrossRepository":true`, `"headRef":`+tc.ref+`,"isCrossRepository":`+tc.cross, 1)
		c := client(t, func(*http.Request) (*http.Response, error) { return answer(200, answered), nil })
		if pr, err := c.PullRequest(t.Context(), pull); err != nil || pr.Shared != tc.want {
			t.Errorf("%s: shared %v, %v", name, pr.Shared, err)
		}
	}
}

func TestAnotherPullRequestOfTheSameHeadIsNamed(t *testing.T) {
	node := func(repo string, number int) string {
		return fmt.Sprintf(`{"number":%d,"repository":{"nameWithOwner":%q}}`, number, repo)
	}
	self := node(strings.ToUpper(pull.Repo.String()), pull.Number)
	for name, tc := range map[string]struct{ nodes, cross, want string }{
		"nothing but itself, in GitHub's case": {self, "false", ""},
		"one it cannot see":                    {self + ",null", "false", ""},
		"another one":                          {self + "," + node("acme/app", 99), "false", "acme/app#99"},
		"one in the repository forked from":    {node("up/stream", pull.Number) + "," + self, "false", fmt.Sprintf("up/stream#%d", pull.Number)},
		"a fork's":                             {self + "," + node("acme/app", 99), "true", ""},
	} {
		ref := `"headRef":{"refUpdateRule":null,"associatedPullRequests":{"nodes":[` + tc.nodes + `]}},"isCrossRepository":` + tc.cross
		answered := strings.Replace(page("abc", then, noComments), `"isCrossRepository":true`, ref, 1)
		c := client(t, func(*http.Request) (*http.Response, error) { return answer(200, answered), nil })
		if pr, err := c.PullRequest(t.Context(), pull); err != nil || pr.SameBranch != tc.want {
			t.Errorf("%s: %q, %v", name, pr.SameBranch, err)
		}
	}
}

func TestRewrittenCommits(t *testing.T) {
	at := func(author, committer string) string {
		return fmt.Sprintf(`{"sha":"abc","commit":{"message":"x","author":{"date":%q},"committer":{"date":%q}}}`, author, committer)
	}
	answered := "[" + at(then, then) + "," + at(then, "2026-01-02T03:04:06Z") + "]"
	c := client(t, func(*http.Request) (*http.Response, error) { return answer(200, answered), nil })
	commits, err := c.Commits(t.Context(), pull)
	if err != nil || len(commits) != 2 || commits[0].Rewritten || !commits[1].Rewritten {
		t.Errorf("%+v, %v", commits, err)
	}
}

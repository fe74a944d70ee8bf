package board_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"touchstone/agent/board"
	"touchstone/agent/forge"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// TestOnePullRequestDoesNotHideTheOthers checks that the queue has all pull requests although one is gone since
// they were listed, and there is more of another one than is read.
func TestOnePullRequestDoesNotHideTheOthers(t *testing.T) {
	t.Parallel()
	github := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var question strings.Builder
		_ = r.Write(&question)
		pull := func(labels string) string {
			return `{"data":{"viewer":{"login":"alice"},"repository":{"nameWithOwner":"acme/app","pullRequest":{"title":"Add it","state":"OPEN",` +
				`"author":{"login":"bob","__typename":"User"},"headRefOid":"abc","labels":{"pageInfo":{"hasNextPage":` + labels + `}},` +
				`"commits":{"nodes":[{"commit":{"oid":"abc"}}]}}}}}`
		}
		answer := pull("false")
		switch text := question.String(); {
		case strings.Contains(text, "query OpenPullRequests"):
			answer = `{"data":{"repository":{"pullRequests":{"nodes":[{"number":1},{"number":2},{"number":3}]}}}}`
		case strings.Contains(text, `"number":1,`) || strings.Contains(text, `"number":1}`):
			answer = `{"data":{"repository":{"pullRequest":null}},"errors":[{"type":"NOT_FOUND","path":["repository","pullRequest"]}]}`
		case strings.Contains(text, `"number":2,`) || strings.Contains(text, `"number":2}`):
			answer = pull("true")
		}
		_, _ = w.Write([]byte(answer))
	}))
	defer github.Close()
	client, err := forge.New(forge.Config{APIURL: github.URL, Token: "t"})
	if err != nil {
		t.Fatal(err)
	}
	judge := func(context.Context, forge.PullRequest) (decide.State, error) { return decide.State{}, nil }
	pulls, _, err := board.FromGitHub(t.Context(), client, []forge.Repo{{Owner: "acme", Name: "app"}}, nil, judge)
	if err != nil || len(pulls) != 2 {
		t.Fatalf("%d pull requests, %v", len(pulls), err)
	}
	if p := pulls[0]; p.Number != 2 || p.Turn != verdict.TurnPerson || p.Reason == "" || p.Author != "bob" {
		t.Errorf("the one that cannot be read is %+v", p)
	}
	if pulls[1].Number != 3 {
		t.Errorf("the other one is %+v", pulls[1])
	}
}

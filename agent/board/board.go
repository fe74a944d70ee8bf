// Package board knows of all open pull requests whose turn it is and why: from the relay, which has
// it ready, or else from GitHub, one pull request after the other. It stores nothing.
package board

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"touchstone/agent/forge"
	"touchstone/relay/client"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// Pull is an open pull request, in the form of the relay's GET /api/v1/pulls.
type Pull struct {
	Repo   string `json:"repo"`
	Number int    `json:"number"`
	Title  string `json:"title"`
	Author string `json:"author"`
	URL    string `json:"url"`
	Draft  bool   `json:"draft"`
	// Round counts the reviews that count; Verdict is the latest one's, empty before the first.
	Round   int             `json:"round"`
	Verdict verdict.Verdict `json:"verdict"`
	// Open counts the findings that are open by severity.
	Open map[verdict.Severity]int `json:"open"`
	// CI is success, failure, pending or none.
	CI string `json:"ci"`
	// Turn is whose turn it is, WaitingOn the logins where that is known, Since when it came to be
	// so; zero where that is not known. Reason says why.
	Turn      verdict.Turn `json:"turn"`
	WaitingOn []string     `json:"waiting_on"`
	Since     time.Time    `json:"since,omitzero"`
	Reason    string       `json:"reason"`
	CostUSD   float64      `json:"cost_usd"`
}

// Ref names the pull request as owner/name#12.
func (p Pull) Ref() string { return fmt.Sprintf("%s#%d", p.Repo, p.Number) }

// Standing is what has come of its reviews, on a line: the round, the verdict and what is open.
func (p Pull) Standing() string {
	if p.Draft {
		return "draft"
	}
	if p.Round == 0 {
		return "not reviewed"
	}
	words := []string{"round " + strconv.Itoa(p.Round)}
	switch p.Verdict {
	case verdict.Approve:
		words = append(words, "approved")
	case verdict.RequestChanges:
		words = append(words, "changes requested")
	}
	for _, s := range verdict.Severities() {
		if n := p.Open[s]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, s))
		}
	}
	return strings.Join(words, ", ")
}

const (
	// relayPage is how many pull requests a relay gives at once, the most that it does.
	relayPage = 500
	// mostPages bounds the pages that are asked for.
	mostPages = 20
	// MostRead bounds the pull requests that are read from GitHub, each of which takes some requests.
	MostRead = 100
)

// FromRelay asks a relay for the open pull requests of some repositories, or of all that its token
// may see.
func FromRelay(ctx context.Context, relay *client.Client, repos []string) ([]Pull, error) {
	pulls := []Pull{}
	query := url.Values{"state": {"open"}, "limit": {strconv.Itoa(relayPage)}}
	for range mostPages {
		var page struct {
			Pulls []Pull `json:"pulls"`
			Next  string `json:"next"`
		}
		if err := relay.Get(ctx, "api/v1/pulls", query, &page); err != nil {
			return nil, err
		}
		for _, p := range page.Pulls {
			if len(repos) == 0 || slices.ContainsFunc(repos, func(r string) bool { return strings.EqualFold(r, p.Repo) }) {
				pulls = append(pulls, p)
			}
		}
		if page.Next == "" {
			break
		}
		query.Set("page", page.Next)
	}
	return pulls, nil
}

// Reader reads open pull requests from GitHub.
type Reader interface {
	OpenPullRequests(ctx context.Context, repo forge.Repo) ([]forge.Listed, error)
	PullRequest(ctx context.Context, ref forge.Ref) (forge.PullRequest, error)
}

// Judge tells all that is true of a pull request.
type Judge func(context.Context, forge.PullRequest) (decide.State, error)

// FromGitHub reads the open pull requests of repositories, at most MostRead of them, the last
// changed first; more says that there are others. Reviewers are the logins whose reviews count.
func FromGitHub(ctx context.Context, read Reader, repos []forge.Repo, reviewers []string,
	judge Judge) (pulls []Pull, more bool, err error) {
	var open []forge.Listed
	for _, repo := range repos {
		listed, err := read.OpenPullRequests(ctx, repo)
		if err != nil {
			return nil, false, err
		}
		open = append(open, listed...)
	}
	slices.SortStableFunc(open, func(a, b forge.Listed) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	more = len(open) > MostRead
	pulls = []Pull{}
	for _, listed := range open[:min(len(open), MostRead)] {
		pr, err := read.PullRequest(ctx, listed.Ref)
		var refusal *forge.Error
		switch {
		case errors.Is(err, forge.ErrNotFound):
			continue // it was deleted or transferred meanwhile
		case errors.Is(err, forge.ErrUnreadable) && errors.As(err, &refusal):
			pulls = append(pulls, unread(pr, refusal.Message))
			continue
		case err != nil:
			return nil, false, err
		}
		state, err := judge(ctx, pr)
		if err != nil {
			return nil, false, err
		}
		pulls = append(pulls, judged(pr, state, reviewers))
	}
	return pulls, more, nil
}

// unread is a pull request of which there is more than the agents read: a person decides it.
func unread(pr forge.PullRequest, why string) Pull {
	return Pull{
		Repo: pr.Ref.Repo.String(), Number: pr.Ref.Number, Title: pr.Title, Author: pr.Author.Login, URL: pr.URL, Draft: pr.Draft,
		Open: map[verdict.Severity]int{}, CI: "none", WaitingOn: []string{pr.Author.Login}, Turn: verdict.TurnPerson, Reason: why,
	}
}

// judged is a pull request of GitHub with what the decision says of it.
func judged(pr forge.PullRequest, s decide.State, reviewers []string) Pull {
	p := Pull{
		Repo: pr.Ref.Repo.String(), Number: pr.Ref.Number, Title: pr.Title, Author: pr.Author.Login, URL: pr.URL, Draft: pr.Draft,
		Open: map[verdict.Severity]int{}, CI: string(s.Checks), WaitingOn: []string{},
	}
	switch s.Checks {
	case decide.ChecksGreen:
		p.CI = "success"
	case decide.ChecksFailed:
		p.CI = "failure"
	}
	for _, i := range s.Counting() {
		record := s.Opinions[i].Record
		if record == nil {
			continue
		}
		p.Round, p.Verdict = max(p.Round, record.Round), record.Verdict
		p.CostUSD += record.CostUSD
		clear(p.Open)
		for _, entry := range record.Ledger.Outstanding() {
			p.Open[entry.Severity]++
		}
	}
	action := decide.Next(s)
	p.Turn, p.Reason = action.Turn, cmp.Or(action.Status.Text, action.Reason)
	switch on := action.On; {
	case on.Turn == verdict.TurnReviewer:
		p.WaitingOn = slices.Clone(reviewers)
	case on.Turn == verdict.TurnPerson && len(on.Logins) == 0 && on.Not == "": // anybody who may push
		p.WaitingOn = []string{pr.Author.Login}
	default:
		p.WaitingOn = append(p.WaitingOn, on.Logins...)
	}
	return p
}

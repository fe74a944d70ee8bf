package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"touchstone/relay/event"
	"touchstone/verdict"
)

// story follows the pull request through the relay's events and reports it on the timeline.
type story struct {
	out *timeline
	// number is the pull request's number.
	number int
	// rounds are the rounds, counted from 1, of the heads.
	rounds map[string]int
	// last is the record of the latest review; cost is the sum of all reviews, in US dollars.
	last verdict.Record
	cost float64
	// merge is the pull request's merge commit, once it is merged.
	merge string
	// stuck says why no agent continues, once that is the case.
	stuck string
}

// payload holds the fields of GitHub's webhooks that the story needs. See
// https://docs.github.com/en/webhooks/webhook-events-and-payloads
type payload struct {
	PullRequest struct {
		Title          string
		Merged         bool
		MergeCommitSHA string `json:"merge_commit_sha"`
		Head           struct{ SHA string }
	} `json:"pull_request"`
	Review struct {
		Body     string
		CommitID string `json:"commit_id"`
	}
	CheckRun struct {
		Name       string
		Conclusion string
		HeadSHA    string `json:"head_sha"`
		Output     struct{ Title, Summary string }
	} `json:"check_run"`
	Label             struct{ Name string }
	RequestedReviewer struct{ Login string } `json:"requested_reviewer"`
}

// head returns the commit that an event is about. A review and a check keep their commit when the branch
// moves on.
func (p payload) head() string {
	return cmp.Or(p.Review.CommitID, p.CheckRun.HeadSHA, p.PullRequest.Head.SHA)
}

// hear processes the next event. It is called for one event after the other.
func (s *story) hear(e event.Event) error {
	var p payload
	if err := json.Unmarshal(e.Payload, &p); err != nil {
		return fmt.Errorf("read the %s event that the relay sent: %w", e.Name(), err)
	}
	now := step{sha: p.head(), event: e.Type + "." + e.Action, who: e.Sender}
	if _, known := s.rounds[now.sha]; !known && now.sha != "" {
		s.rounds[now.sha] = s.last.Round + 1
	}
	now.round = s.rounds[now.sha]
	switch now.event {
	case "pull_request.opened":
		s.number = e.Number
		now.what = fmt.Sprintf("opens %s#%d %q", e.Repo, e.Number, p.PullRequest.Title)
	case "pull_request.review_requested":
		now.what = "asks " + p.RequestedReviewer.Login + " for a review"
	case "pull_request.synchronize":
		now.what = "pushes a fix for " + verdict.Amount(len(s.last.Ledger.Outstanding()), "finding", "findings")
	case "check_run.completed":
		now.who = "ci"
		now.what, now.style = "✗ "+p.CheckRun.Conclusion, bad
		if p.CheckRun.Conclusion == "success" {
			now.what, now.style = "✓ success", good
		}
		now.what += ": " + p.CheckRun.Name
	case "pull_request_review.submitted":
		s.reviewed(now, p)
		return nil
	case "pull_request.labeled":
		now.what, now.style = "puts the label "+p.Label.Name+" on it", warn
		if p.Label.Name == needsHuman {
			s.stuck = "the agents gave the pull request to a person"
		}
	case "pull_request.closed":
		s.closed(&now, p)
	default:
		return nil
	}
	s.out.step(now)
	return nil
}

// reviewed reports a review with its findings.
func (s *story) reviewed(now step, p payload) {
	if p.Review.Body == "" { // GitHub's form of a reply in a thread; a fix makes one for each finding
		return
	}
	record, err := verdict.ParseRecord(p.Review.Body)
	if err != nil {
		now.what = "gives an opinion without a verdict"
		s.out.step(now)
		return
	}
	s.last, s.cost = record, s.cost+record.CostUSD
	now.what, now.style = string(record.Verdict)+": "+counts(record), good
	if record.Verdict != verdict.Approve {
		now.style = bad
	}
	s.out.step(now)
	for _, entry := range record.Ledger.Outstanding() {
		colour := map[verdict.Severity]style{verdict.Critical: bad, verdict.Major: warn, verdict.Nit: dim}[entry.Severity]
		s.out.detail(colour, string(entry.Severity), string(entry.Dimension), fmt.Sprintf("%s:%d", entry.Path, entry.Line), entry.Claim)
	}
}

func (s *story) closed(now *step, p payload) {
	if !p.PullRequest.Merged {
		s.stuck = "the pull request was closed without having been merged"
		now.what, now.style = "closes it", bad
		return
	}
	s.merge = p.PullRequest.MergeCommitSHA
	now.what, now.style = "squash-merges it into main as "+verdict.Short(s.merge), good
}

// counts says how many findings of each severity are open, and how many are fixed.
func counts(r verdict.Record) string {
	open := map[verdict.Severity]int{}
	for _, e := range r.Ledger.Outstanding() {
		open[e.Severity]++
	}
	var parts []string
	for _, severity := range verdict.Severities() {
		if n := open[severity]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, severity))
		}
	}
	if n := verified(r); n > 0 {
		parts = append(parts, fmt.Sprintf("%d fixed", n))
	}
	if len(parts) == 0 {
		return "nothing found"
	}
	return strings.Join(parts, ", ")
}

// verified counts the findings that a later round no longer found.
func verified(r verdict.Record) int {
	n := 0
	for _, e := range r.Ledger {
		if e.Gone() {
			n++
		}
	}
	return n
}

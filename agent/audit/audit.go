// Package audit reports why a pull request was merged, or why it was not. It reads from GitHub alone, so that
// every machine produces the same report. It also computes statistics over many pull requests. It decides
// nothing and stores nothing.
//
// A review's record is believed only if one of the configured reviewers, who is not the author of the pull request,
// posted it, and only as posted: not edited, not dismissed, and in agreement with the commit and the state that GitHub
// shows. A record that is not believed is still shown, with the reason.
package audit

import (
	"time"

	"touchstone/agent/forge"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// Chain is the report on one pull request. Other programs read its JSON: names do not change, new ones may
// be added.
type Chain struct {
	PullRequest string    `json:"pull_request"` // owner/name#number
	URL         string    `json:"url"`
	Title       string    `json:"title"`
	Author      string    `json:"author"`
	CreatedAt   time.Time `json:"created_at"`
	State       string    `json:"state"` // open, closed or merged
	Head        string    `json:"head"`
	Base        string    `json:"base"` // tip of the base branch now; empty if the branch is gone
	BaseBranch  string    `json:"base_branch"`
	// Merge says what the merge rested on.
	Merge *verdict.Merge `json:"merge,omitempty"`

	// Approved is the number of the round that approved the head, or zero.
	Approved int `json:"approved_in_round,omitempty"`
	// Missing says what a merge still needs; for a merged pull request, what its merge lacked.
	Missing []string `json:"missing"`
	// Conditions are the conditions of the agents' decision, in its order; for a merged pull request, only
	// those whose state at the merge GitHub keeps.
	Conditions []decide.Condition `json:"conditions"`
	// Warnings report inconsistencies, such as a review that was edited.
	Warnings []string `json:"warnings"`

	// Reviewers are the logins whose records are believed.
	Reviewers []string  `json:"reviewers"`
	Commits   []Commit  `json:"commits"`
	Rounds    []Round   `json:"rounds"`   // reviews that carry a record, oldest first
	Opinions  []Opinion `json:"opinions"` // reviews without a record, oldest first
	// Findings and Holds are those of the last believed record.
	Findings []verdict.Entry `json:"findings"`
	Holds    []verdict.Hold  `json:"holds"`
	Orders   []Order         `json:"orders"` // commands that people gave the agents
	Labels   []Labelling     `json:"labels"` // labels added and removed
	// Incidents are events that undid, rewrote or interrupted earlier work, oldest first.
	Incidents []Incident `json:"incidents"`
	Checks    []Check    `json:"checks"` // of the head, in their present state

	// CostUSD, Tokens and Duration are sums over the believed rounds, each with the wall-clock time of its sessions.
	CostUSD  float64       `json:"cost_usd"`
	Tokens   int64         `json:"tokens"`
	Duration time.Duration `json:"duration_ns"`
	// FixCostUSD and FixDuration are the cost and time that the commits of the author's agent report.
	FixCostUSD  float64       `json:"fix_cost_usd"`
	FixDuration time.Duration `json:"fix_duration_ns"`
}

// Commit is a commit of the pull request.
type Commit struct {
	SHA     string    `json:"sha"`
	By      string    `json:"by"` // login, or the name in the commit if GitHub knows no account for it
	At      time.Time `json:"at"`
	Subject string    `json:"subject"`
	// Fixes are the ids of the findings that the commit claims to fix, Disputes those that it disputes, with
	// its reasons.
	Fixes    []string `json:"fixes,omitempty"`
	Disputes []string `json:"disputes,omitempty"`
}

// Round is a review that carries a record.
type Round struct {
	Review   int64      `json:"review_id"`
	URL      string     `json:"url"`
	By       string     `json:"by"`
	At       time.Time  `json:"at"`
	EditedAt *time.Time `json:"edited_at,omitempty"`
	SHA      string     `json:"sha"`   // the reviewed commit, according to GitHub
	State    string     `json:"state"` // GitHub's state of the review, such as APPROVED
	// Doubt says why the record is not believed; empty if it is believed.
	Doubt string `json:"doubt,omitempty"`
	// Approves reports whether the agents count the review as an approval of the head.
	Approves bool `json:"approves"`
	// Record is the record in the review.
	Record verdict.Record `json:"record"`
}

// believed reports whether the record counts.
func (r Round) believed() bool { return r.Doubt == "" }

// Opinion is a review without a record, by a person or another program.
type Opinion struct {
	Review  int64     `json:"review_id"`
	URL     string    `json:"url"`
	By      string    `json:"by"`
	Bot     bool      `json:"bot"`
	CanPush bool      `json:"can_push"`
	At      time.Time `json:"at"`
	SHA     string    `json:"sha"`
	State   string    `json:"state"`
	// Reply reports whether the review has no text of its own: GitHub represents an answer in a thread that
	// way.
	Reply bool `json:"reply,omitempty"`
}

// Order is a comment that begins with a command.
type Order struct {
	URL     string     `json:"url"`
	By      string     `json:"by"`
	At      time.Time  `json:"at"`
	Edited  *time.Time `json:"edited_at,omitempty"`
	Verb    string     `json:"verb"`
	Finding string     `json:"finding,omitempty"`
	Reason  string     `json:"reason,omitempty"`
	May     string     `json:"permission"`        // the author's permission in the repository now
	Counts  bool       `json:"counts"`            // the author may give the order, the comment was not edited, and the order can be followed
	Unclear string     `json:"unclear,omitempty"` // why the order cannot be followed, as its author was told
}

// Labelling is the addition or removal of a label.
type Labelling struct {
	Label string    `json:"label"`
	Added bool      `json:"added"`
	By    string    `json:"by"`
	At    time.Time `json:"at"`
}

// Incident is a force push, a change of the base branch, a dismissed review, a deleted comment, a closing or
// a reopening.
type Incident struct {
	Kind   forge.IncidentKind `json:"kind"`
	By     string             `json:"by"`
	At     time.Time          `json:"at"`
	Before string             `json:"before,omitempty"` // commit, branch, state of the review, or author of the comment
	After  string             `json:"after,omitempty"`  // commit or branch
	Review int64              `json:"review_id,omitempty"`
	Reason string             `json:"reason,omitempty"`
}

// Check is a check of the head.
type Check struct {
	Name     string           `json:"name"`
	State    forge.CheckState `json:"state"`
	Required bool             `json:"required"`
	URL      string           `json:"url,omitempty"`
}

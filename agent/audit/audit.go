// Package audit owns the account of why a pull request was merged, or why it was not: read from GitHub alone, so that every
// machine can draw up the same account. It also counts what became of many pull requests. It decides nothing and stores
// nothing.
//
// A review's record is believed only if one of the configured reviewers posted it, not the author of the pull
// request, and only as it was posted. What is not believed is shown all the same, with the reason.
package audit

import (
	"time"

	"touchstone/agent/forge"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// Chain is the evidence on one pull request. Its JSON is meant for other programs: names stay, new ones may come.
type Chain struct {
	PullRequest string    `json:"pull_request"` // owner/name#number
	URL         string    `json:"url"`
	Title       string    `json:"title"`
	Author      string    `json:"author"`
	CreatedAt   time.Time `json:"created_at"`
	State       string    `json:"state"` // open, closed or merged
	Head        string    `json:"head"`
	Base        string    `json:"base"` // the base branch's tip now; empty when the branch is gone
	BaseBranch  string    `json:"base_branch"`
	// Merge is what its merge rested on.
	Merge *verdict.Merge `json:"merge,omitempty"`

	// Approved is the round that approved the head, or zero.
	Approved int `json:"approved_in_round,omitempty"`
	// Missing says what stands between the pull request and a merge, of a merged one what its merge lacked.
	Missing []string `json:"missing"`
	// Conditions are those of the decision that the agents take, in its order; of a merged one, those of which GitHub keeps
	// how they stood.
	Conditions []decide.Condition `json:"conditions"`
	// Warnings say what does not fit together, such as a review that was edited.
	Warnings []string `json:"warnings"`

	// Reviewers are the logins whose records are believed.
	Reviewers []string  `json:"reviewers"`
	Commits   []Commit  `json:"commits"`
	Rounds    []Round   `json:"rounds"`   // reviews that carry a record, oldest first
	Opinions  []Opinion `json:"opinions"` // reviews that carry none, oldest first
	// Findings and Holds are those of the last record that is believed.
	Findings []verdict.Entry `json:"findings"`
	Holds    []verdict.Hold  `json:"holds"`
	Orders   []Order         `json:"orders"` // what people told the agents
	Labels   []Labelling     `json:"labels"` // what was put on and taken off
	// Incidents took back, rewrote or interrupted what the pull request had come to, oldest first.
	Incidents []Incident `json:"incidents"`
	Checks    []Check    `json:"checks"` // of the head, as they are now

	// CostUSD, Tokens and Duration are sums over the rounds that are believed.
	CostUSD  float64       `json:"cost_usd"`
	Tokens   int64         `json:"tokens"`
	Duration time.Duration `json:"duration_ns"`
	// FixCostUSD and FixDuration are what the commits of the author's agent say that they took.
	FixCostUSD  float64       `json:"fix_cost_usd"`
	FixDuration time.Duration `json:"fix_duration_ns"`
}

// Commit is a commit of the pull request.
type Commit struct {
	SHA     string    `json:"sha"`
	By      string    `json:"by"` // login, or the name in the commit where GitHub knows no account
	At      time.Time `json:"at"`
	Subject string    `json:"subject"`
	// Fixes are the ids of findings that it claims to fix, Disputes those that it disputes, with its reasons.
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
	SHA      string     `json:"sha"`   // the commit that GitHub says was reviewed
	State    string     `json:"state"` // GitHub's word on it, such as APPROVED
	// Doubt says why the record is not believed; empty if it is.
	Doubt string `json:"doubt,omitempty"`
	// Approves says that the agents take it for an approval of the head.
	Approves bool `json:"approves"`
	// Record is what the review says of itself.
	Record verdict.Record `json:"record"`
}

// believed reports whether the record counts.
func (r Round) believed() bool { return r.Doubt == "" }

// Opinion is a review without a record: a person's, or another program's.
type Opinion struct {
	Review  int64     `json:"review_id"`
	URL     string    `json:"url"`
	By      string    `json:"by"`
	Bot     bool      `json:"bot"`
	CanPush bool      `json:"can_push"`
	At      time.Time `json:"at"`
	SHA     string    `json:"sha"`
	State   string    `json:"state"`
	// Reply says that it has no text of its own: GitHub's form of an answer in a thread.
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
	May     string     `json:"permission"`        // what its author may do in the repository now
	Counts  bool       `json:"counts"`            // its author may give it, it was not edited, and it can be followed
	Unclear string     `json:"unclear,omitempty"` // why it cannot be followed, as its author was told
}

// Labelling is a label put on or taken off.
type Labelling struct {
	Label string    `json:"label"`
	Added bool      `json:"added"`
	By    string    `json:"by"`
	At    time.Time `json:"at"`
}

// Incident is a push by force, a change of the base branch, a dismissal, a deleted comment, a closing or a reopening.
type Incident struct {
	Kind   forge.IncidentKind `json:"kind"`
	By     string             `json:"by"`
	At     time.Time          `json:"at"`
	Before string             `json:"before,omitempty"` // commit, branch, state of the review, or whose comment it was
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

// Package payload owns the small part of GitHub's webhook payloads that the relay reads
// (https://docs.github.com/en/webhooks/webhook-events-and-payloads). Names are matched exactly, because what
// is read here decides who may see an event.
package payload

import (
	"time"

	"touchstone/relay/internal/exactjson"
)

// GitHub is what the relay reads of a payload. Fields that a payload lacks, or has with another type, are empty.
type GitHub struct {
	// Action says what happened, such as "opened".
	Action string `json:"action"`
	// Number is the number of the issue or pull request.
	Number int `json:"number"`
	// The objects that an event is about; nil if it is about none.
	PullRequest *Pull     `json:"pull_request"`
	Review      *Review   `json:"review"`
	Comment     *Comment  `json:"comment"`
	Issue       *Issue    `json:"issue"`
	CheckRun    *CheckRun `json:"check_run"`
	CheckSuite  Run       `json:"check_suite"`
	WorkflowRun Workflow  `json:"workflow_run"`
	// Label and Reviewer are what an action on a pull request added or removed.
	Label    Named   `json:"label"`
	Reviewer Account `json:"requested_reviewer"`
	// Repository is where it happened, and Sender who caused it.
	Repository Repository `json:"repository"`
	Sender     Account    `json:"sender"`

	// For a status: its number, the commit, and what it says.
	ID          int64  `json:"id"`
	SHA         string `json:"sha"`
	Context     string `json:"context"`
	State       string `json:"state"`
	Description string `json:"description"`
	UpdatedAt   Time   `json:"updated_at"`

	// For a push: the ref, where it points now, and the commits that it brought.
	Ref     string   `json:"ref"`
	After   string   `json:"after"`
	Commits []Commit `json:"commits"`
}

// Read reads a payload. The error says that it is not JSON.
func Read(body []byte) (*GitHub, error) {
	p := new(GitHub)
	if err := exactjson.Decode(body, p); err != nil {
		return nil, err
	}
	return p, nil
}

// About returns the number of the issue or pull request that the event is about; 0 if it is about neither.
func (p *GitHub) About() int {
	if p.PullRequest != nil && p.PullRequest.Number > 0 {
		return p.PullRequest.Number
	}
	if p.Issue != nil && p.Issue.Number > 0 {
		return p.Issue.Number
	}
	if p.Number > 0 {
		return p.Number
	}
	runs := []Run{p.CheckSuite, p.WorkflowRun.Run}
	if p.CheckRun != nil {
		runs = append([]Run{p.CheckRun.Run}, runs...)
	}
	for _, run := range runs {
		for _, of := range run.PullRequests {
			if of.Number > 0 {
				return of.Number
			}
		}
	}
	return 0
}

// Time is a time of a payload. It is zero if the payload's text is no time: what else the payload says counts
// all the same.
type Time struct{ time.Time }

// UnmarshalText reads a time in the format of RFC 3339. It never fails.
func (t *Time) UnmarshalText(text []byte) error {
	if t.Time.UnmarshalText(text) != nil {
		t.Time = time.Time{}
	}
	return nil
}

// Repository is a repository.
type Repository struct {
	// FullName is owner/name.
	FullName string `json:"full_name"`
}

// Account is a user or an app.
type Account struct {
	Login string `json:"login"`
}

// Named is an object of which only the name counts, such as a label.
type Named struct {
	Name string `json:"name"`
}

// Branch is one of the two ends of a pull request.
type Branch struct {
	SHA  string     `json:"sha"`
	Ref  string     `json:"ref"`
	Repo Repository `json:"repo"`
}

// Pull is a pull request.
type Pull struct {
	ID        int64     `json:"id"`
	Number    int       `json:"number"`
	Title     string    `json:"title"`
	URL       string    `json:"html_url"`
	State     string    `json:"state"` // open or closed
	Draft     bool      `json:"draft"`
	User      Account   `json:"user"`
	Head      Branch    `json:"head"`
	Base      Branch    `json:"base"`
	Labels    []Named   `json:"labels"`
	Requested []Account `json:"requested_reviewers"`
	CreatedAt Time      `json:"created_at"`
	UpdatedAt Time      `json:"updated_at"`
	ClosedAt  *Time     `json:"closed_at"`
	MergedAt  *Time     `json:"merged_at"`
	MergedBy  *Account  `json:"merged_by"`
	MergeSHA  string    `json:"merge_commit_sha"`
}

// Review is a review of a pull request.
type Review struct {
	ID          int64   `json:"id"`
	Body        string  `json:"body"`
	State       string  `json:"state"`
	CommitID    string  `json:"commit_id"`
	User        Account `json:"user"`
	URL         string  `json:"html_url"`
	SubmittedAt Time    `json:"submitted_at"`
}

// Comment is a comment on an issue, a pull request or a line.
type Comment struct {
	Body string `json:"body"`
}

// Issue is an issue; PullRequest is not nil if it is a pull request.
type Issue struct {
	Number      int       `json:"number"`
	PullRequest *struct{} `json:"pull_request"`
}

// Run is a check suite or a workflow run. It belongs to pull requests.
type Run struct {
	PullRequests []Numbered `json:"pull_requests"`
}

// Numbered is an object of which only the number in its repository counts.
type Numbered struct {
	Number int `json:"number"`
}

// Workflow is a run of a workflow, whose jobs are the check runs of one check suite.
type Workflow struct {
	Run
	ID      int64  `json:"workflow_id"`
	Event   string `json:"event"` // what it runs for
	HeadSHA string `json:"head_sha"`
	Suite   int64  `json:"check_suite_id"`
}

// CheckRun is a check run.
type CheckRun struct {
	Run
	ID          int64  `json:"id"`
	Name        string `json:"name"`
	HeadSHA     string `json:"head_sha"`
	Status      string `json:"status"`
	Conclusion  string `json:"conclusion"`
	StartedAt   Time   `json:"started_at"`
	CompletedAt *Time  `json:"completed_at"`
	App         App    `json:"app"`
	Suite       struct {
		ID int64 `json:"id"`
	} `json:"check_suite"`
}

// App is a GitHub App.
type App struct {
	Slug string `json:"slug"`
}

// Commit is a commit of a push.
type Commit struct {
	ID        string `json:"id"`
	Message   string `json:"message"`
	Timestamp Time   `json:"timestamp"`
}

package projection

import (
	"strings"
	"time"
	"unicode"

	"touchstone/relay/event"
	"touchstone/relay/internal/exactjson"
	"touchstone/verdict"
)

// payload is the small part of GitHub's webhook payloads that the projection reads
// (https://docs.github.com/en/webhooks/webhook-events-and-payloads).
type payload struct {
	PullRequest *pullObject    `json:"pull_request"`
	Review      *reviewObject  `json:"review"`
	Comment     *commentObject `json:"comment"`
	Issue       *issueObject   `json:"issue"`
	CheckRun    *checkRun      `json:"check_run"`
	Label       named          `json:"label"`
	Reviewer    account        `json:"requested_reviewer"`
	Hook        *hookObject    `json:"hook"`

	// For a status.
	SHA         string    `json:"sha"`
	Context     string    `json:"context"`
	State       string    `json:"state"`
	Description string    `json:"description"`
	UpdatedAt   time.Time `json:"updated_at"`

	// For a push.
	Ref     string         `json:"ref"`
	After   string         `json:"after"`
	Commits []commitObject `json:"commits"`

	text string // the description in lists of events
}

type account struct {
	Login string `json:"login"`
}

type named struct {
	Name string `json:"name"`
}

type branch struct {
	SHA  string `json:"sha"`
	Ref  string `json:"ref"`
	Repo struct {
		FullName string `json:"full_name"`
	} `json:"repo"`
}

type pullObject struct {
	ID        int64      `json:"id"`
	Number    int        `json:"number"`
	Title     string     `json:"title"`
	URL       string     `json:"html_url"`
	State     string     `json:"state"`
	Draft     bool       `json:"draft"`
	User      account    `json:"user"`
	Head      branch     `json:"head"`
	Base      branch     `json:"base"`
	Labels    []named    `json:"labels"`
	Requested []account  `json:"requested_reviewers"`
	CreatedAt time.Time  `json:"created_at"`
	UpdatedAt time.Time  `json:"updated_at"`
	ClosedAt  *time.Time `json:"closed_at"`
	MergedAt  *time.Time `json:"merged_at"`
	MergedBy  *account   `json:"merged_by"`
	MergeSHA  string     `json:"merge_commit_sha"`
}

type reviewObject struct {
	ID          int64     `json:"id"`
	Body        string    `json:"body"`
	State       string    `json:"state"`
	CommitID    string    `json:"commit_id"`
	User        account   `json:"user"`
	URL         string    `json:"html_url"`
	SubmittedAt time.Time `json:"submitted_at"`

	// sealed is the record in the review's text, if unsealed is nil.
	sealed   verdict.Sealed
	unsealed error
}

type commentObject struct {
	Body string `json:"body"`
}

type issueObject struct {
	PullRequest *struct{} `json:"pull_request"`
}

type checkRun struct {
	ID          int64      `json:"id"`
	Name        string     `json:"name"`
	HeadSHA     string     `json:"head_sha"`
	Status      string     `json:"status"`
	Conclusion  string     `json:"conclusion"`
	StartedAt   time.Time  `json:"started_at"`
	CompletedAt *time.Time `json:"completed_at"`
}

type commitObject struct {
	ID        string    `json:"id"`
	Message   string    `json:"message"`
	Timestamp time.Time `json:"timestamp"`
}

type hookObject struct {
	ID     int64    `json:"id"`
	Events []string `json:"events"`
	Active bool     `json:"active"`
}

// read are the event types whose payloads the projection parses.
var read = map[string]bool{
	"pull_request": true, "pull_request_review": true, "pull_request_review_comment": true, "issue_comment": true, "status": true,
	"check_run": true, "push": true, "ping": true,
}

// parse reads a payload. If its shape differs from GitHub's, the readable parts count. Names are matched
// exactly, as the relay does when it decides who may see an event.
func parse(e event.Event) (p payload) {
	_ = exactjson.Decode(e.Payload, &p) // it is JSON, otherwise the source had refused it
	if p.Review != nil {
		p.Review.sealed, p.Review.unsealed = verdict.ParseSealed(p.Review.Body)
	}
	return p
}

// Plain returns untrusted text on one line, cut after n characters, without characters that control a terminal,
// reverse the text's direction or are invisible.
func Plain(text string, n int) string {
	var b strings.Builder
	space := false
	for _, r := range text {
		switch {
		case unicode.IsSpace(r) || r == unicode.ReplacementChar:
			space = b.Len() > 0
			continue
		case !unicode.IsPrint(r):
			continue
		}
		if n--; n < 0 {
			return b.String() + "…"
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

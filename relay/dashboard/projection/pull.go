package projection

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"touchstone/relay/event"
	"touchstone/relay/internal/payload"
	"touchstone/verdict"
)

// Pull is everything that the log says about one pull request. Applying events in another order, or twice,
// gives the same result.
type Pull struct {
	Source string `json:"source"`
	Repo   string `json:"repo"`
	Number int    `json:"number"`
	// ID is the number that identifies the pull request among all of GitHub's; signatures cover it.
	ID        int64     `json:"id"`
	Title     string    `json:"title"`
	Author    string    `json:"author"`
	URL       string    `json:"url"`
	Head      string    `json:"head"`
	HeadRef   string    `json:"head_ref"`
	Base      string    `json:"base"`
	Closed    bool      `json:"closed,omitempty"`
	Draft     bool      `json:"draft,omitempty"`
	Labels    []string  `json:"labels,omitempty"`
	Requested []string  `json:"requested,omitempty"`
	OpenedAt  time.Time `json:"opened_at"`
	UpdatedAt time.Time `json:"updated_at"`
	ClosedAt  time.Time `json:"closed_at,omitzero"`
	MergedAt  time.Time `json:"merged_at,omitzero"`
	MergedBy  string    `json:"merged_by,omitempty"`
	MergeSHA  string    `json:"merge_sha,omitempty"`
	// Moved reports that the log told of it before under another name of its repository, and Ended when it was merged or
	// closed there. The figures of days count both there.
	Moved      bool      `json:"moved,omitempty"`
	Ended      time.Time `json:"ended,omitzero"`
	Gone       string    `json:"gone,omitempty"` // why it is no longer where it was
	GoneAt     time.Time `json:"gone_at,omitzero"`
	EventAt    time.Time `json:"event_at"`
	LabelledAt time.Time `json:"labelled_at,omitzero"` // when the label was last added that calls a person
	Escalated  []string  `json:"escalated,omitempty"`  // all times when it was added
	Heads      []Head    `json:"heads,omitempty"`      // oldest first
	Reviews    []Review  `json:"reviews,omitempty"`    // oldest first
}

// NeedsHuman is the label with which the agents call a person, unless their settings name another one.
const NeedsHuman = "needs-human"

// Head is a commit that was the pull request's head, and when the relay first heard about it.
type Head struct {
	SHA string    `json:"sha"`
	At  time.Time `json:"at"`
}

// Review is one submitted review.
type Review struct {
	ID        int64     `json:"id"`
	By        string    `json:"by"`
	At        time.Time `json:"at"`
	SHA       string    `json:"sha"`
	State     string    `json:"state"` // GitHub's, in lower case
	URL       string    `json:"url"`
	Edited    bool      `json:"edited,omitempty"`
	Dismissed bool      `json:"dismissed,omitempty"`
	// Body is the length and hash of the text, to detect changes.
	Body string `json:"body,omitempty"`
	// Record is nil for a review without one. Unreadable reports that the text looks as if it had a record;
	// Forged, that the record's signature does not match.
	Record     *verdict.Record `json:"record,omitempty"`
	Unreadable bool            `json:"unreadable,omitempty"`
	Forged     bool            `json:"forged,omitempty"`
	// Key is the public key that the record is signed with, in hexadecimal; empty for an unsigned record.
	Key string `json:"key,omitempty"`
	// Moved reports that it was given under an earlier name of the repository.
	Moved bool `json:"moved,omitempty"`
}

// Limits on what is kept of one pull request, in characters and entries. Of more reviews and heads than that,
// the newest are kept.
const (
	maxTitle   = 300
	maxName    = 256
	maxReviews = 500
	maxHeads   = 500
)

// apply applies what an event says about the pull request itself. The label called calls a person.
func (p *Pull) apply(e event.Event, in parsed, called string) {
	o := in.PullRequest
	if o != nil && o.Number == p.Number && o.ID != p.ID && o.ID > 0 && p.ID > 0 { // another repository had the name, or has it now
		if o.UpdatedAt.Before(p.UpdatedAt) {
			return
		}
		*p = Pull{Source: p.Source, Repo: p.Repo, Number: p.Number}
	}
	p.EventAt = later(p.EventAt, e.ReceivedAt)
	if o != nil && o.Number == p.Number {
		p.describe(o, e)
		if e.Type == "pull_request" && e.Action == "labeled" && strings.EqualFold(in.Label.Name, called) {
			at := cmp.Or(o.UpdatedAt.UTC(), e.ReceivedAt)
			p.LabelledAt = later(p.LabelledAt, at)
			if moment := at.Format(time.RFC3339); !slices.Contains(p.Escalated, moment) {
				p.Escalated = append(p.Escalated, moment)
			}
		}
	}
	if e.Type == "pull_request_review" && in.Review != nil {
		p.review(e.Action, in)
	}
}

// describe applies the state of the pull request, unless a newer state is known. GitHub's times are whole
// seconds: within a second the log's order decides, but a merge is never undone.
func (p *Pull) describe(o *payload.Pull, e event.Event) {
	p.addHead(o.Head.SHA, e.ReceivedAt)
	if o.MergedAt != nil {
		p.MergedAt, p.MergeSHA = o.MergedAt.UTC(), Plain(o.MergeSHA, 64)
		if o.MergedBy != nil {
			p.MergedBy = Plain(o.MergedBy.Login, maxName)
		}
	}
	if o.UpdatedAt.Before(p.UpdatedAt) {
		return
	}
	p.ID, p.UpdatedAt = o.ID, o.UpdatedAt.UTC()
	if p.UpdatedAt.After(p.GoneAt) { // the repository is there again
		p.Gone, p.GoneAt = "", time.Time{}
	}
	p.Title, p.URL = Plain(o.Title, maxTitle), o.URL
	p.Author = Plain(o.User.Login, maxName)
	p.Head, p.HeadRef, p.Base = Plain(o.Head.SHA, 64), Plain(o.Head.Ref, maxName), Plain(o.Base.Ref, maxName)
	p.Closed, p.Draft = o.State == "closed", o.Draft
	p.OpenedAt = o.CreatedAt.UTC()
	p.ClosedAt = time.Time{}
	if o.ClosedAt != nil && p.Closed {
		p.ClosedAt = o.ClosedAt.UTC()
	}
	p.Labels, p.Requested = nil, nil
	for _, l := range o.Labels[:min(len(o.Labels), 100)] {
		p.Labels = append(p.Labels, Plain(l.Name, 100))
	}
	for _, a := range o.Requested[:min(len(o.Requested), 100)] {
		p.Requested = append(p.Requested, Plain(a.Login, maxName))
	}
}

func (p *Pull) addHead(sha string, at time.Time) {
	sha = Plain(sha, 64)
	if sha == "" {
		return
	}
	for i := range p.Heads {
		if h := &p.Heads[i]; h.SHA == sha {
			if at.Before(h.At) {
				h.At = at
			}
			return
		}
	}
	p.Heads = append(p.Heads, Head{SHA: sha, At: at})
	slices.SortStableFunc(p.Heads, func(a, b Head) int { return a.At.Compare(b.At) })
	p.Heads = p.Heads[max(0, len(p.Heads)-maxHeads):]
}

// headAt returns when the relay first heard about a head, or the zero time.
func (p *Pull) headAt(sha string) time.Time {
	if i := slices.IndexFunc(p.Heads, func(h Head) bool { return h.SHA == sha }); i >= 0 {
		return p.Heads[i].At
	}
	return time.Time{}
}

// review applies a review. An edited or dismissed review stays so even if events come out of order, because the
// submitted text is lost.
func (p *Pull) review(action string, in parsed) {
	o := in.Review
	i := slices.IndexFunc(p.Reviews, func(r Review) bool { return r.ID == o.ID })
	sum := sha256.Sum256([]byte(o.Body))
	body := fmt.Sprintf("%d %x", len(o.Body), sum[:12])
	if i < 0 {
		r := Review{ID: o.ID, By: Plain(o.User.Login, maxName), At: o.SubmittedAt.UTC(), SHA: Plain(o.CommitID, 64), URL: o.URL, Body: body}
		r.readRecord(p, in)
		p.Reviews = append(p.Reviews, r)
		p.sortReviews()
		i = slices.IndexFunc(p.Reviews, func(r Review) bool { return r.ID == o.ID })
		if i < 0 {
			return // it is older than all that are kept
		}
	}
	r := &p.Reviews[i]
	r.Edited = r.Edited || action == "edited" || r.Body != body
	if action == "submitted" && r.Body != body { // the event of its edit came first
		r.Body = body
		r.readRecord(p, in)
	}
	r.Dismissed = r.Dismissed || action == "dismissed"
	if r.State == "" || action == "submitted" {
		r.State = strings.ToLower(Plain(o.State, 32))
	}
}

// sortReviews sorts the reviews, and drops those that are too many.
func (p *Pull) sortReviews() {
	slices.SortStableFunc(p.Reviews, func(a, b Review) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
	for len(p.Reviews) > maxReviews { // a reply to a comment on a line is a review too, without a record
		plain := slices.IndexFunc(p.Reviews, func(r Review) bool { return r.Record == nil && !r.Unreadable })
		p.Reviews = slices.Delete(p.Reviews, max(0, plain), max(0, plain)+1)
	}
}

// readRecord reads the record of a review, if it has one. The signature is checked with the key that it names:
// it must match this pull request and the record's content.
func (r *Review) readRecord(p *Pull, in parsed) {
	sealed := in.sealed
	if in.unsealed != nil {
		r.Record, r.Forged, r.Key, r.Unreadable = nil, false, "", verdict.Sealing(in.Review.Body)
		return
	}
	record := sealed.Record
	record.Evidence, record.NotListed = nil, nil // they are long, and nothing shows them
	r.Record, r.Unreadable, r.Forged = &record, false, sealed.Key != nil && !sealed.SignedFor(p.ID)
	r.Key = hex.EncodeToString(sealed.Key)
}

// doubt returns why a review's record is not believed, as a part of a sentence; "" if it is believed.
func (p *Pull) doubt(r Review, reviewers []string) string {
	if r.Unreadable {
		return "its record cannot be read"
	}
	posted := verdict.Posted{By: r.By, Author: p.Author, SHA: r.SHA, State: r.State, Edited: r.Edited}
	if r.Dismissed {
		posted.State = "dismissed"
	}
	doubt := posted.Doubt(*r.Record, reviewers)
	if doubt == "" && r.Forged {
		return "its record was changed after it was signed, or is another pull request's"
	}
	return doubt
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

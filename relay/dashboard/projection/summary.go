package projection

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"touchstone/verdict"
)

// Counts are findings by severity.
type Counts struct {
	Critical int `json:"critical"`
	Major    int `json:"major"`
	Minor    int `json:"minor"`
	Nit      int `json:"nit"`
}

// add counts n findings. A severity that is not known counts as the worst.
func (c *Counts) add(s verdict.Severity, n int) {
	*[]*int{&c.Critical, &c.Major, &c.Minor, &c.Nit}[s.Rank()] += n
}

// Blocking is the number of those that stand against an approval.
func (c Counts) Blocking() int { return c.Critical + c.Major + c.Minor }

// String lists them, the worst first; it is empty without any.
func (c Counts) String() string {
	var parts []string
	for i, n := range []int{c.Critical, c.Major, c.Minor, c.Nit} {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, verdict.Severities()[i]))
		}
	}
	return strings.Join(parts, ", ")
}

// Summary is a pull request as lists show it. Its JSON is part of the relay's API.
type Summary struct {
	Repo      string          `json:"repo"`
	Number    int             `json:"number"`
	Title     string          `json:"title"`
	Author    string          `json:"author"`
	URL       string          `json:"url"`
	Head      string          `json:"head"`
	Base      string          `json:"base"`
	State     string          `json:"state"` // open, merged or closed
	Draft     bool            `json:"draft"`
	Round     int             `json:"round"`
	Verdict   verdict.Verdict `json:"verdict"` // of the head, or of the last round while the head waits
	Open      Counts          `json:"open"`
	CI        string          `json:"ci"` // success, failure, pending or none
	Turn      verdict.Turn    `json:"turn"`
	WaitingOn []string        `json:"waiting_on"`
	// Since is when it came to be this one's turn, UpdatedAt when the last event came.
	Since     time.Time `json:"since"`
	Reason    string    `json:"reason"`
	CostUSD   float64   `json:"cost_usd"`
	UpdatedAt time.Time `json:"updated_at"`
}

// NeedsHuman reports whether it waits for a person.
func (s Summary) NeedsHuman() bool { return s.Turn == verdict.TurnPerson }

// Round is one review with a record, as the timeline shows it.
type Round struct {
	Round    int             `json:"round"`
	Head     string          `json:"head"`
	Verdict  verdict.Verdict `json:"verdict"`
	By       string          `json:"by"`
	At       time.Time       `json:"at"`
	Seconds  float64         `json:"seconds"`
	CostUSD  float64         `json:"cost_usd"`
	Engine   string          `json:"engine"`
	Model    string          `json:"model"`
	Findings Counts          `json:"findings"`
	URL      string          `json:"url"`
	// CI is what the checks of its head came to: success, failure, pending or none.
	CI string `json:"ci"`
	// Key is the public key that its record is signed with, as touchstone doctor shows it on the
	// reviewer's machine; empty for an unsigned one.
	Key string `json:"key,omitempty"`
	// Doubt says why the record is not believed; empty if it is.
	Doubt string `json:"doubt,omitempty"`
	// Waited is how many seconds the head waited for it, and FixedAfter how many passed until
	// the next head came; 0 where that is not known or has not happened.
	Waited     float64 `json:"waited_seconds,omitempty"`
	FixedAfter float64 `json:"fixed_after_seconds,omitempty"`

	guidelines string
	tokens     int64
	id         int64
}

// Finding is one entry of the ledger.
type Finding struct {
	ID        string            `json:"id"`
	Dimension verdict.Dimension `json:"dimension"`
	Severity  verdict.Severity  `json:"severity"`
	Rule      string            `json:"rule"`
	Path      string            `json:"path"`
	Line      int               `json:"line"`
	Claim     string            `json:"claim"`
	Status    verdict.Status    `json:"status"`
	First     int               `json:"first"`
	Last      int               `json:"last"`
	// Said is what was last said to dispute or waive it.
	Said string `json:"said,omitempty"`
}

// Detail is all that a pull request's page shows.
type Detail struct {
	Summary
	Rounds   []Round   `json:"rounds"`
	Findings []Finding `json:"findings"`
	// Blockers are what stands between it and the merge now, as sentences.
	Blockers []string `json:"blockers"`
	// Events are its events, newest first.
	Events   []Happening  `json:"events"`
	Checks   []NamedCheck `json:"checks"`
	OpenedAt time.Time    `json:"opened_at"`
	// Merge is what its merge rested on; nil while it is not merged.
	Merge   *verdict.Merge `json:"merge,omitempty"`
	HeadRef string         `json:"head_ref"`
	// Trimmed says that it ended before the log begins: no more than the summary is known.
	Trimmed bool `json:"trimmed,omitempty"`
}

// NamedCheck is a check of the head.
type NamedCheck struct {
	Name  string    `json:"name"`
	State string    `json:"state"`
	Text  string    `json:"text,omitempty"`
	At    time.Time `json:"at"`
}

// view is a pull request with all that its summary is made of.
type view struct {
	*Pull
	reviewers []string
	commits   map[string]*Commit // by SHA, of its heads
	last      *Review            // with the newest record that is believed
	onHead    *Review            // the same, of the head
	others    int                // reviews with a record that is not believed
	word      string             // whom an agent waits for, in its own words
	heeded    bool               // the turn is by that word, and another than the log tells
}

func newView(p *Pull, reviewers []string, commits map[string]*Commit) *view {
	v := &view{Pull: p, reviewers: reviewers, commits: commits}
	for i := range p.Reviews {
		r := &p.Reviews[i]
		switch {
		case r.Record == nil:
		case p.doubt(*r, reviewers) != "":
			v.others++
		default:
			v.last = r
			if r.SHA == p.Head {
				v.onHead = r
			}
		}
	}
	return v
}

func (v *view) head() *Commit { return v.commit(v.Head) }

// commit is what is known of one of its heads.
func (v *view) commit(sha string) *Commit {
	if c := v.commits[sha]; c != nil {
		return c
	}
	return &Commit{}
}

// ledger is that of the last round, with what the commits since say that they fixed.
func (v *view) ledger() verdict.Ledger {
	if v.last == nil {
		return nil
	}
	var messages []string
	for _, h := range v.Heads {
		if c := v.commits[h.SHA]; c != nil {
			for _, fix := range c.Repairs {
				messages = append(messages, fix.Message)
			}
		}
	}
	return v.last.Record.Ledger.Claimed(v.last.Record.Head, messages)
}

func (v *view) summary() Summary {
	s := Summary{
		Repo: v.Repo, Number: v.Number, Title: v.Title, Author: v.Author, URL: v.URL, Head: v.Head, Base: v.Base,
		State: "open", Draft: v.Draft, WaitingOn: []string{}, UpdatedAt: v.EventAt,
	}
	switch {
	case !v.MergedAt.IsZero():
		s.State = "merged"
	case v.Closed:
		s.State = "closed"
	}
	s.CI, _, _ = v.head().ci()
	if v.last != nil {
		s.Round, s.Verdict = v.last.Record.Round, v.last.Record.Verdict
		for _, e := range v.ledger().Outstanding() {
			s.Open.add(e.Severity, 1)
		}
	}
	for _, r := range v.Reviews {
		if r.Record != nil && v.doubt(r, v.reviewers) == "" {
			s.CostUSD += r.Record.CostUSD
		}
	}
	for _, h := range v.Heads {
		if c := v.commits[h.SHA]; c != nil {
			for _, fix := range c.Repairs {
				s.CostUSD += fix.CostUSD
			}
		}
	}
	v.decide(&s)
	v.quote(&s)
	return s
}

// decide says whose turn it is by what the log tells.
func (v *view) decide(s *Summary) {
	ci, failed, pending := v.head().ci()
	set := func(turn verdict.Turn, since time.Time, reason string, on ...string) {
		s.Turn, s.Since, s.Reason = turn, since, reason
		s.WaitingOn = append(s.WaitingOn, on...)
	}
	author := []string{v.Author}
	switch {
	case s.State == "merged":
		set(verdict.TurnNobody, v.MergedAt, "merged"+by(v.MergedBy))
	case s.State == "closed":
		set(verdict.TurnNobody, v.ClosedAt, "closed without a merge")
	case slices.Contains(v.Labels, NeedsHuman):
		set(verdict.TurnPerson, later(v.LabelledAt, v.OpenedAt), "it carries the label "+NeedsHuman, v.people()...)
	case v.Draft:
		set(verdict.TurnAuthor, v.OpenedAt, "it is a draft", author...)
	case v.onHead == nil:
		on := slices.DeleteFunc(slices.Clone(v.Requested), func(login string) bool { return !verdict.ListsLogin(v.reviewers, login) })
		if len(on) == 0 {
			on = v.reviewers
		}
		set(verdict.TurnReviewer, v.headAt(v.Head), v.unreviewed(), on...)
	case v.onHead.Record.Verdict == verdict.RequestChanges && s.Open.Blocking() == 0 && len(v.onHead.Record.Holds) > 0:
		set(verdict.TurnPerson, v.onHead.At, "a person has to let it pass: "+hold(v.onHead.Record.Holds[0]), v.people()...)
	case v.onHead.Record.Verdict == verdict.RequestChanges:
		set(verdict.TurnAuthor, v.onHead.At, fmt.Sprintf("changes requested in round %d%s", s.Round, of(s.Open)), author...)
	case ci == "failure":
		set(verdict.TurnAuthor, v.checkedAt(failed), "approved, but CI fails: "+names(failed), author...)
	case ci == "pending":
		set(verdict.TurnCI, v.onHead.At, "approved, and CI runs: "+names(pending))
	default:
		set(verdict.TurnAuthor, v.onHead.At, fmt.Sprintf("approved in round %d, ready to merge", s.Round), author...)
	}
}

// quote takes the word of the agents' own statuses where the head has one that is not older than what the log tells: it comes
// from the decision that they act by. The author's counts as long as the reviewer's leaves it to others.
func (v *view) quote(s *Summary) {
	if s.State != "open" {
		return
	}
	signs := v.head().Signs
	review, fix := signs[reviewContext], signs[fixContext]
	heard := verdict.ListsLogin(v.reviewers, review.By) && v.heed(s, review, verdict.TurnReviewer, v.reviewers)
	left := s.Turn == verdict.TurnAuthor || s.Turn == verdict.TurnCI
	if verdict.SameLogin(v.Author, fix.By) && (!heard || left && !fix.At.Before(review.At)) {
		v.heed(s, fix, verdict.TurnAuthor, []string{v.Author})
	}
}

// heed takes what the agent of a party says, and whose turn it is by that, if it is not older than what is known.
func (v *view) heed(s *Summary, sign Check, party verdict.Turn, logins []string) (heard bool) {
	// GitHub's times are whole seconds.
	if sign.Text == "" || sign.At.Before(s.Since.Truncate(time.Second)) {
		return false
	}
	waiting := strings.HasPrefix(sign.Text, verdict.Waits)
	if s.Reason = sign.Text; waiting {
		v.word = sign.Text
	}
	awaited := verdict.Awaited(sign.Text)
	turn, on := awaited.Turn, awaited.Logins
	switch {
	case turn == verdict.TurnPerson && awaited.Not != "": // of those that are asked, nobody may
	case turn == verdict.TurnPerson:
		on = v.people()
	case turn == verdict.TurnReviewer:
		on = v.reviewers
	case len(on) > 0 && verdict.SameLogin(v.Author, on[0]):
		turn = verdict.TurnAuthor
	case len(on) > 0 && verdict.ListsLogin(v.reviewers, on[0]):
		turn = verdict.TurnReviewer
	case len(on) > 0:
		turn = verdict.TurnPerson
	case !waiting && sign.State == "pending":
		turn, on = party, logins // it is at work
	}
	if turn == "" || turn == s.Turn && turn != verdict.TurnPerson {
		return true
	}
	if turn != s.Turn {
		v.heeded, s.Turn, s.Since = waiting, turn, sign.At
	}
	s.WaitingOn = []string{}
	for _, login := range on {
		s.WaitingOn = append(s.WaitingOn, Plain(login, maxName))
	}
	return true
}

// people are those who may answer when a person is called: its author, unless it is held, and the requested reviewers that are no agents.
func (v *view) people() []string {
	people := slices.DeleteFunc(slices.Clone(v.Requested), func(login string) bool { return verdict.ListsLogin(v.reviewers, login) })
	if v.Author != "" && !v.held() {
		people = slices.Insert(people, 0, v.Author)
	}
	return people
}

func (v *view) unreviewed() string {
	switch {
	case len(v.reviewers) == 0:
		return "the relay is told no reviewers, so it believes no review"
	case v.last != nil:
		return fmt.Sprintf("%s came after round %d and is not reviewed yet", verdict.Short(v.Head), v.last.Record.Round)
	case v.others > 0:
		return "no review of it can be believed"
	}
	return verdict.Short(v.Head) + " is not reviewed yet"
}

func (v *view) checkedAt(names []string) (at time.Time) {
	for _, name := range names {
		at = later(at, v.head().Checks[name].At)
	}
	return at
}

package projection

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"touchstone/verdict"
)

// Counts is the number of findings by severity.
type Counts struct {
	Critical int `json:"critical"`
	Major    int `json:"major"`
	Minor    int `json:"minor"`
	Nit      int `json:"nit"`
}

// add adds n findings. An unknown severity counts as the worst.
func (c *Counts) add(s verdict.Severity, n int) {
	*[]*int{&c.Critical, &c.Major, &c.Minor, &c.Nit}[s.Rank()] += n
}

// Blocking returns the number of findings that prevent an approval.
func (c Counts) Blocking() int { return c.Critical + c.Major + c.Minor }

// String lists the counts, the worst severity first; it is empty if there are no findings.
func (c Counts) String() string {
	var parts []string
	for i, n := range []int{c.Critical, c.Major, c.Minor, c.Nit} {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, verdict.Severities()[i]))
		}
	}
	return strings.Join(parts, ", ")
}

// Summary is a pull request as lists display it. Its JSON is part of the relay's API.
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
	// Since is when the current turn began, UpdatedAt when the last event arrived.
	Since     time.Time `json:"since"`
	Reason    string    `json:"reason"`
	CostUSD   float64   `json:"cost_usd"`
	UpdatedAt time.Time `json:"updated_at"`
}

// NeedsHuman reports whether the pull request waits for a person.
func (s Summary) NeedsHuman() bool { return s.Turn == verdict.TurnPerson }

// Round is one review with a record, as the timeline displays it.
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
	// CI is the result of the head's checks: success, failure, pending or none.
	CI string `json:"ci"`
	// Key is the public key that the record is signed with, as touchstone doctor shows it on the reviewer's
	// machine; empty for an unsigned record.
	Key string `json:"key,omitempty"`
	// Doubt says why the record is not believed; empty if it is believed.
	Doubt string `json:"doubt,omitempty"`
	// Waited is how many seconds the head waited for the review, and FixedAfter how many passed until the next
	// head came; 0 if unknown or not yet.
	Waited     float64 `json:"waited_seconds,omitempty"`
	FixedAfter float64 `json:"fixed_after_seconds,omitempty"`

	guidelines string
	tokens     int64
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
	// Said is the last statement that disputes or waives the finding.
	Said string `json:"said,omitempty"`
}

// Detail is everything that a pull request's page displays.
type Detail struct {
	Summary
	Rounds   []Round   `json:"rounds"`
	Findings []Finding `json:"findings"`
	// Blockers are what prevents the merge now, as sentences.
	Blockers []string `json:"blockers"`
	// Events are the pull request's events, newest first.
	Events   []Happening  `json:"events"`
	Checks   []NamedCheck `json:"checks"`
	OpenedAt time.Time    `json:"opened_at"`
	// Merge is what the merge was based on; nil if the pull request is not merged.
	Merge   *verdict.Merge `json:"merge,omitempty"`
	HeadRef string         `json:"head_ref"`
	// Trimmed reports that the pull request ended before the log begins, so only the summary is known.
	Trimmed bool `json:"trimmed,omitempty"`
}

// NamedCheck is a check of the head.
type NamedCheck struct {
	Name  string    `json:"name"`
	State string    `json:"state"`
	Text  string    `json:"text,omitempty"`
	At    time.Time `json:"at"`
}

// view is a pull request with everything that its summary is made from.
type view struct {
	*Pull
	reviewers []string
	label     string             // calls a person
	commits   map[string]*Commit // by SHA, of its heads
	repairs   []Fix              // of the heads
	believed  []Review           // those with a record that is believed
	last      *Review            // the newest of them
	onHead    *Review            // the same, for the head and its base; nil after one by its login for another base
	others    int                // reviews whose record is not believed
	word      string             // the reason for which an agent waits, in the agent's words
	heeded    bool               // the turn comes from word, and differs from what the log says
	settled   time.Time          // by GitHub's clock: the agents' statuses from before it are outdated
}

func newView(p *Pull, config Config, commits map[string]*Commit) *view {
	v := &view{Pull: p, reviewers: config.Reviewers, label: config.NeedsHuman, commits: commits}
	for i := range p.Reviews {
		r := &p.Reviews[i]
		if r.Record == nil {
			continue
		}
		if p.doubt(*r, v.reviewers) != "" {
			v.others++
			continue
		}
		v.believed, v.last = append(v.believed, *r), r
		switch {
		case r.SHA != p.Head:
		case !v.elsewhere(r):
			v.onHead = r
		case v.onHead != nil && verdict.SameLogin(v.onHead.By, r.By):
			v.onHead = nil
		}
	}
	for _, h := range p.Heads {
		v.repairs = append(v.repairs, v.commit(h.SHA).Repairs...)
	}
	return v
}

// elsewhere reports whether a review was made for another base than the present one, as far as that is known.
func (v *view) elsewhere(r *Review) bool {
	return r.Record.BaseBranch != "" && v.Base != "" && r.Record.BaseBranch != v.Base
}

func (v *view) head() *Commit { return v.commit(v.Head) }

// commit returns what is known about one of the pull request's heads.
func (v *view) commit(sha string) *Commit {
	if c := v.commits[sha]; c != nil {
		return c
	}
	return &Commit{}
}

// ledger returns the ledger of the last round, with the fixes that later commits claim.
func (v *view) ledger() verdict.Ledger {
	if v.last == nil {
		return nil
	}
	var messages []string
	for _, fix := range v.repairs {
		messages = append(messages, fix.Message)
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
	case !v.open():
		s.State = "closed"
	}
	s.CI, _, _ = v.head().ci()
	if v.last != nil {
		s.Round, s.Verdict = v.last.Record.Round, v.last.Record.Verdict
		for _, e := range v.ledger().Outstanding() {
			s.Open.add(e.Severity, 1)
		}
	}
	for _, r := range v.believed {
		s.CostUSD += r.Record.CostUSD
	}
	for _, fix := range v.repairs {
		s.CostUSD += fix.CostUSD
	}
	v.decide(&s)
	v.quote(&s)
	return s
}

// decide determines whose turn it is from the log: as long as the pull request is open, the turn of the first of
// its needs.
func (v *view) decide(s *Summary) {
	var next need
	switch s.State {
	case "merged":
		next = need{verdict.TurnNobody, v.MergedAt, "merged" + by(v.MergedBy), nil}
	case "closed":
		next = need{verdict.TurnNobody, v.ClosedAt, "closed without a merge", nil}
		if !v.Closed {
			next.since, next.reason = v.GoneAt, v.Gone
		}
	default:
		next = v.needs(*s)[0]
	}
	s.Turn, s.Since, s.Reason, v.settled = next.turn, next.since, next.reason, next.since
	switch s.Turn {
	case verdict.TurnPerson:
		s.WaitingOn = append(s.WaitingOn, v.people()...)
	case verdict.TurnAuthor:
		s.WaitingOn = append(s.WaitingOn, v.Author)
	case verdict.TurnReviewer:
		v.settled = v.OpenedAt // the relay may have heard of the head long after the agents
		for _, login := range v.Requested {
			if verdict.ListsLogin(v.reviewers, login) {
				s.WaitingOn = append(s.WaitingOn, login)
			}
		}
		if len(s.WaitingOn) == 0 {
			s.WaitingOn = append(s.WaitingOn, v.reviewers...)
		}
	}
}

// quote applies the agents' own statuses on the head, unless they are older than what the log says, because
// they state the decision that the agent acts on. The author's status counts as long as the reviewer's leaves
// the turn to others. A reviewer's status that is not pending only repeats the verdict of the review: the author
// may have answered the review before that status was written.
func (v *view) quote(s *Summary) {
	if s.State != "open" {
		return
	}
	signs := v.head().Signs
	review, fix := signs[verdict.ReviewStatus], signs[verdict.FixStatus]
	if v.onHead == nil && v.last != nil && v.elsewhere(v.last) { // a verdict in a status is for another base
		if review.State != "pending" {
			review = Check{}
		}
		if fix.State == "success" {
			fix = Check{}
		}
	}
	heard := verdict.ListsLogin(v.reviewers, review.By) && v.heed(s, review, verdict.TurnReviewer, v.reviewers)
	left := s.Turn == verdict.TurnAuthor || s.Turn == verdict.TurnCI
	outdated := review.State == "pending" && fix.At.Before(review.At)
	if verdict.SameLogin(v.Author, fix.By) && (!heard || left && !outdated) {
		v.heed(s, fix, verdict.TurnAuthor, []string{v.Author})
	}
}

// heed applies an agent's status and the turn that it names, unless the status is older than what is known.
func (v *view) heed(s *Summary, sign Check, party verdict.Turn, logins []string) (heard bool) {
	// GitHub's times are whole seconds.
	if sign.Text == "" || sign.At.Before(v.settled.Truncate(time.Second)) {
		return false
	}
	waiting := strings.HasPrefix(sign.Text, verdict.Waits)
	if s.Reason = sign.Text; waiting {
		v.word = sign.Text
	}
	awaited := verdict.Awaited(sign.Text)
	turn, on := awaited.Turn, awaited.Logins
	switch {
	case turn == verdict.TurnPerson && awaited.Not != "": // none of those that are asked may answer
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
		turn, on = party, logins // the agent is working
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

// people returns who may answer when a person is called: the author, unless the head is held, and the requested
// reviewers that are not agents.
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
	case v.last != nil && v.last.SHA == v.Head:
		return fmt.Sprintf("%s is not reviewed yet for %s", verdict.Short(v.Head), v.Base)
	case v.last != nil:
		return fmt.Sprintf("%s came after round %d and is not reviewed yet", verdict.Short(v.Head), v.last.Record.Round)
	case v.others > 0:
		return "no review of it can be believed"
	}
	return verdict.Short(v.Head) + " is not reviewed yet"
}

func (v *view) checkedAt(names []string) (at time.Time) {
	for _, check := range v.head().current() {
		if slices.Contains(names, check.Name) {
			at = later(at, check.At)
		}
	}
	return at
}

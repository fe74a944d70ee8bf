package decide

import (
	"slices"
	"strings"

	"touchstone/verdict"
)

// stance is a reviewer's position on a head, ordered by weight. With several reviewers, the heaviest one
// counts.
type stance int

const (
	unreviewed stance = iota // no reviewer has reviewed it
	approves                 // it may be merged
	takenBack                // the last review was dismissed, and its reviewer has not reviewed again
	passes                   // changes are requested, but a person lets it pass
	disputes                 // changes are requested, and the reviewer must judge again
	waits                    // a person must let it pass, and has not been called yet
	objects                  // changes are requested
	doubtful                 // a review was edited, cannot be believed, or its parts disagree
)

// stance is the heaviest stance of the configured reviewers on this very head and base.
func (s State) stance() stance {
	most := unreviewed
	for _, w := range s.words() {
		most = max(most, s.stanceOf(w))
	}
	return most
}

// word is what one reviewer says about this head: the index of the review that counts or, if takenBack, of
// the review whose dismissal left the reviewer without one.
type word struct {
	index     int
	takenBack bool
}

// words are the words of the configured reviewers, by lower-case login.
func (s State) words() map[string]word {
	words := map[string]word{}
	for _, o := range s.Opinions {
		by := strings.ToLower(o.By)
		if _, known := words[by]; known || !s.trusts(o.By) {
			continue
		}
		if w, ok := s.wordOf(o.By); ok {
			words[by] = w
		}
	}
	return words
}

// wordOf is a login's word on this head: its latest review. If two machines of the login reviewed in the same
// round, the heavier review counts. A dismissed review cancels the earlier ones too, and so does a review
// that cannot be believed. After a review of this head for another base, only reviews made in knowledge of it count:
// what it found may be true here, too.
func (s State) wordOf(login string) (w word, ok bool) {
	var other *verdict.Record // the newest of this head for another base
	for i, o := range s.Opinions {
		if !verdict.SameLogin(o.By, login) {
			continue
		}
		switch {
		case s.elsewhere(o):
			w, ok, other = word{}, false, newer(other, o.Record)
		case !s.concerns(o), o.unaware(other):
		case o.State == dismissed:
			if !ok || w.takenBack || o.supersedes(s.Opinions[w.index]) {
				w, ok = word{i, true}, true
			}
		case ok && !w.takenBack && o.Record != nil && o.Record.Engine != "" && o.concurrent(s.Opinions[w.index]) &&
			s.stanceOf(w) > s.stanceOf(word{index: i}):
		default:
			w, ok = word{index: i}, true
		}
	}
	return w, ok
}

func (s State) stanceOf(w word) stance {
	o := s.Opinions[w.index]
	_, passed := s.lifted(w.index)
	switch {
	case w.takenBack:
		return takenBack
	case !s.stands(o):
		return doubtful
	case s.approved(w.index):
		return approves
	case s.expired(*o.Record):
		return disputes
	case passed:
		return passes
	case s.held(w.index):
		return waits
	case s.again(o) != "":
		return disputes
	}
	return objects
}

// Counting are the indices of the opinions that count on this head, oldest first: the latest of each
// configured reviewer. An opinion may lack its record, if somebody removed it.
func (s State) Counting() []int { return s.indices(false) }

// takenBack are the indices of the dismissed reviews of this head, oldest first, that left their reviewers
// without an opinion. Each blocks until its reviewer reviews the head again.
func (s State) takenBack() []int { return s.indices(true) }

// indices are those of the reviewers' words that are, or are not, taken back, oldest first.
func (s State) indices(takenBack bool) (all []int) {
	for _, w := range s.words() {
		if w.takenBack == takenBack {
			all = append(all, w.index)
		}
	}
	slices.Sort(all)
	return all
}

// Approves reports whether the opinion at index i, one of Counting's, allows the merge of this head: by
// itself, or on a person's word that still counts.
func (s State) Approves(i int) bool { return s.stands(s.Opinions[i]) && s.approved(i) }

// Objection is the index of the opinion that a fix answers: the newest that counts and requests changes. It
// is -1 and false if there is none.
func (s State) Objection() (int, bool) {
	for _, i := range slices.Backward(s.Counting()) {
		if o := s.Opinions[i]; s.stands(o) && o.Record.Verdict == verdict.RequestChanges {
			return i, true
		}
	}
	return -1, false
}

// Outstanding are the ids of the findings because of which changes of this head are requested, after people's
// orders.
func (s State) Outstanding() []string {
	var ids []string
	for _, i := range s.Counting() {
		o := s.Opinions[i]
		if !s.stands(o) || o.Record.Verdict != verdict.RequestChanges {
			continue
		}
		for _, e := range s.withOrders(*o.Record).Outstanding() {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

// concurrent reports whether two reviews of one login belong to the same round and have the same origin: both
// a session, or both the same person's word. Then neither was made in knowledge of the other.
func (o Opinion) concurrent(p Opinion) bool {
	if o.void() || p.void() {
		return false
	}
	a, b := o.Record, p.Record
	return a.Round == b.Round && (a.Engine == "") == (b.Engine == "") && a.Lifted.Same(b.Lifted)
}

const dismissed = "DISMISSED"

// supersedes reports whether a review, when dismissed, also cancels an earlier one of its login: dismissing a
// later review does not restore an earlier approval. The exception is two concurrent reviews: if the
// dismissed one does not weigh more, the other stays in force, because the slower of two machines withdraws
// its own review.
func (o Opinion) supersedes(before Opinion) bool {
	if !o.concurrent(before) {
		return true
	}
	return o.Record.Verdict == verdict.RequestChanges && before.Record.Verdict == verdict.Approve
}

// own is the index of this login's review of the head that counts, or of the one whose dismissal left the
// login without an opinion. It is -1 if the login has not reviewed the head.
func (s State) own() int {
	if w, ok := s.wordOf(s.Self); ok {
		return w.index
	}
	return -1
}

// void reports whether a review's record is missing or cannot be believed.
func (o Opinion) void() bool { return o.Edited || o.Doubt != "" || o.Record == nil }

// concerns reports whether a review by an agent is about this head and base. A review that cannot be believed
// does not prove its base, so it counts for this one.
func (s State) concerns(o Opinion) bool {
	switch {
	case o.SHA != s.Head:
		return false
	case o.Edited || o.Doubt != "":
		return true
	}
	return o.Record != nil && o.Record.BaseBranch == s.BaseBranch && !o.Rebased && !o.Outdated
}

// elsewhere reports whether a review by an agent is about this head and another base.
func (s State) elsewhere(o Opinion) bool {
	return o.SHA == s.Head && !o.void() && o.Record.BaseBranch != s.BaseBranch
}

// newer is the record of the later round; the second one if the first is nil.
func newer(a, b *verdict.Record) *verdict.Record {
	if a != nil && a.Round > b.Round {
		return a
	}
	return b
}

// unaware reports whether a review was begun without knowledge of another record of its login, or of none: its round
// is not a later one. A slower machine can still post it. A break-glass order needs no knowledge of a review.
func (o Opinion) unaware(other *verdict.Record) bool {
	if other == nil || o.void() || o.Record.Lifted != nil && o.Record.Lifted.BrokeGlass {
		return false
	}
	return o.Record.Round <= other.Round
}

// stands reports whether a review of this head is unchanged and agrees with its record.
func (s State) stands(o Opinion) bool {
	if o.void() {
		return false
	}
	agrees := o.State == "APPROVED" && o.Record.Verdict == verdict.Approve ||
		o.State == "CHANGES_REQUESTED" && o.Record.Verdict == verdict.RequestChanges
	return agrees && o.Record.Head == s.Head
}

// approved reports whether the review at an index approves by itself, or on a person's word that still
// counts.
func (s State) approved(i int) bool {
	r := s.Opinions[i].Record
	return r.Verdict == verdict.Approve && s.upheld(i) && !s.expired(*r)
}

// held reports whether a person must let the review at an index pass and has not been called for it. If a
// person was called and removed the label, the findings are to be fixed instead.
func (s State) held(i int) bool {
	o := s.Opinions[i]
	person := len(o.Record.Holds) > 0 || o.Record.Verdict == verdict.Approve
	return person && !s.approved(i) && (s.CalledAt.IsZero() || s.CalledAt.Before(o.At))
}

// disputed reports whether a finding of a review was disputed after it.
func (s State) disputed(o Opinion) bool {
	r := o.Record
	return slices.ContainsFunc(s.Orders, func(c verdict.Command) bool {
		return c.Verb == verdict.Dispute && c.ID > r.LastComment && s.ofThisBase(c.At) &&
			slices.ContainsFunc(r.Ledger, func(e verdict.Entry) bool { return e.ID == c.Finding && e.Stands() })
	})
}

// again says, as a sentence fragment, why a review that requests changes must be repeated on the same head
// before its findings are worked on; "" if it need not be.
func (s State) again(o Opinion) string {
	ordered, ok := verdict.LastOrder(s.Orders, verdict.AskReview)
	textual := func(e verdict.Entry) bool { return e.Path == "" && e.Stands() }
	switch {
	case s.disputed(o):
		return "a finding is disputed"
	case ok && o.precedes(ordered):
		return ordered.By + " asks for a review"
	case len(o.Record.Holds) > 0: // the person called for them chose to have them fixed
	case !s.NeedsHuman && o.At.Before(s.CalledAt) && s.resumed():
		return "a person told the agents to continue"
	case o.Restated && slices.ContainsFunc(s.withOrders(*o.Record), textual):
		return "its title or description was edited, which a finding is about"
	}
	return ""
}

// resumed reports whether a person ordered the agents to continue after they called one. Removing the label
// only lets them continue with what they were doing.
func (s State) resumed() bool {
	c, ok := verdict.LastOrder(s.Orders, verdict.Resume)
	return ok && !c.At.Before(s.CalledAt)
}

// rejudged says why the review of this head is repeated.
func (s State) rejudged() string {
	for _, i := range s.Counting() {
		if why := s.again(s.Opinions[i]); s.stanceOf(word{index: i}) == disputes && why != "" {
			return why
		}
	}
	return "a finding was waived for another base"
}

func (s State) trusts(login string) bool {
	return !verdict.SameLogin(login, s.Author) && verdict.ListsLogin(s.Reviewers, login)
}

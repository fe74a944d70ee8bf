package decide

import (
	"maps"
	"slices"
	"strings"

	"touchstone/verdict"
)

// stance is what a reviewer says of a head, from the mildest to what weighs most: of
// several reviewers the weightiest decides.
type stance int

const (
	unreviewed stance = iota // no reviewer has reviewed it
	approves                 // it may be merged
	takenBack                // the last review was dismissed, and its reviewer has not reviewed again
	passes                   // changes are requested, but a person lets it pass
	disputes                 // changes are requested, and the reviewer is to judge again
	waits                    // a person has to let it pass, and is yet to be called
	objects                  // changes are requested
	doubtful                 // a review was edited, cannot be believed, or its parts disagree
)

// stance is the weightiest of what the configured reviewers say of this very head against
// this very base.
func (s State) stance() stance {
	most := unreviewed
	for _, w := range s.words() {
		most = max(most, s.stanceOf(w))
	}
	return most
}

// word is what one reviewer says of this head: its review that counts, by its index, or
// the one that was dismissed and left the reviewer without a word.
type word struct {
	index     int
	takenBack bool
}

// words are the words of the configured reviewers, by login in lower case.
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

// wordOf is the word of a login on this head: its latest review, and of what two machines
// of one login found in the same round, the weightier. A review that was dismissed, and one
// that cannot be believed, takes all before it along.
func (s State) wordOf(login string) (w word, ok bool) {
	for i, o := range s.Opinions {
		if !verdict.SameLogin(o.By, login) || !s.concerns(o) {
			continue
		}
		switch {
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

// Counting are the indices of the opinions that count of this head, oldest first: of each
// configured reviewer the latest. One of them may lack its record, which was taken out of it.
func (s State) Counting() []int {
	var all []int
	for w := range maps.Values(s.words()) {
		if !w.takenBack {
			all = append(all, w.index)
		}
	}
	slices.Sort(all)
	return all
}

// TakenBack are the indices of the dismissed reviews of this head that left their reviewers
// without a word, oldest first. Each blocks until its reviewer reviews the head again.
func (s State) TakenBack() []int {
	var all []int
	for w := range maps.Values(s.words()) {
		if w.takenBack {
			all = append(all, w.index)
		}
	}
	slices.Sort(all)
	return all
}

// Approves reports whether the opinion at an index, one of Counting's, lets this head be
// merged: by itself, or on a person's word that stands.
func (s State) Approves(i int) bool { return s.stands(s.Opinions[i]) && s.approved(i) }

// Objection is the index of the opinion that a fix answers, the newest of those that
// count and request changes; -1 and false if there is none.
func (s State) Objection() (int, bool) {
	for _, i := range slices.Backward(s.Counting()) {
		if o := s.Opinions[i]; s.stands(o) && o.Record.Verdict == verdict.RequestChanges {
			return i, true
		}
	}
	return -1, false
}

// Outstanding are the ids of the findings for which changes of this head are requested, as
// people have left them.
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

// concurrent reports whether two reviews of one login are of the same round and came of the
// same: each of a session, or of one person's word. Neither was given in the knowledge of
// the other.
func (o Opinion) concurrent(p Opinion) bool {
	if o.void() || p.void() {
		return false
	}
	a, b := o.Record, p.Record
	return a.Round == b.Round && (a.Engine == "") == (b.Engine == "") && a.Lifted.Same(b.Lifted)
}

const dismissed = "DISMISSED"

// supersedes reports whether a review, being dismissed, takes an earlier one of its login
// with it: dismissing what came after an approval does not bring the approval back. Of two
// at once, the one that weighs no more leaves the other one in force: the machine that came
// second withdraws its own.
func (o Opinion) supersedes(before Opinion) bool {
	if !o.concurrent(before) {
		return true
	}
	return o.Record.Verdict == verdict.RequestChanges && before.Record.Verdict == verdict.Approve
}

// own is the index of this login's review of the head that counts, or of the one whose
// dismissal left it without a word; -1 if it has not reviewed the head.
func (s State) own() int {
	if w, ok := s.wordOf(s.Self); ok {
		return w.index
	}
	return -1
}

// void reports whether what a review says of itself cannot be believed.
func (o Opinion) void() bool { return o.Edited || o.Doubt != "" || o.Record == nil }

// concerns reports whether a review of ours is about this head and base. What cannot be
// believed does not say which base it is about, and so is about this one.
func (s State) concerns(o Opinion) bool {
	switch {
	case o.SHA != s.Head:
		return false
	case o.Edited || o.Doubt != "":
		return true
	}
	return o.Record != nil && o.Record.BaseBranch == s.BaseBranch && !o.Rebased && !o.Outdated
}

// stands reports whether a review that concerns this head is as it was posted.
func (s State) stands(o Opinion) bool {
	if o.void() {
		return false
	}
	agrees := o.State == "APPROVED" && o.Record.Verdict == verdict.Approve ||
		o.State == "CHANGES_REQUESTED" && o.Record.Verdict == verdict.RequestChanges
	return agrees && o.Record.Head == s.Head
}

// approved reports whether the review at an index approves, and does so by itself or on a
// person's word that stands.
func (s State) approved(i int) bool {
	r := s.Opinions[i].Record
	return r.Verdict == verdict.Approve && s.upheld(i) && !s.expired(*r)
}

// held reports whether a person has to let pass what the review at an index says, and has
// not been called to it. One who was, and took the label off, leaves it to be fixed.
func (s State) held(i int) bool {
	o := s.Opinions[i]
	person := len(o.Record.Holds) > 0 || o.Record.Verdict == verdict.Approve
	return person && !s.approved(i) && (s.CalledAt.IsZero() || s.CalledAt.Before(o.At))
}

// disputed reports whether a finding of a review was disputed since.
func (s State) disputed(o Opinion) bool {
	r := o.Record
	return slices.ContainsFunc(s.Orders, func(c verdict.Command) bool {
		return c.Verb == verdict.Dispute && c.ID > r.LastComment && s.ofThisBase(c.At) &&
			slices.ContainsFunc(r.Ledger, func(e verdict.Entry) bool { return e.ID == c.Finding && e.Stands() })
	})
}

// again is why a review that requests changes is to be given anew, on the head as it is, before
// its findings are worked on, as a sentence part; "" if it is not.
func (s State) again(o Opinion) string {
	ordered, ok := verdict.LastOrder(s.Orders, verdict.AskReview)
	textual := func(e verdict.Entry) bool { return e.Path == "" && e.Stands() }
	switch {
	case s.disputed(o):
		return "a finding is disputed"
	case ok && o.precedes(ordered):
		return ordered.By + " asks for a review"
	case len(o.Record.Holds) > 0: // whose call is answered by leaving it to be fixed
	case !s.NeedsHuman && o.At.Before(s.CalledAt) && s.resumed():
		return "a person has the agents go on"
	case o.Restated && slices.ContainsFunc(s.withOrders(*o.Record), textual):
		return "its title or description was edited, which a finding is about"
	}
	return ""
}

// resumed reports whether a person has ordered the agents to go on since they called one. Taking
// the label off has them go on with what they were at.
func (s State) resumed() bool {
	c, ok := verdict.LastOrder(s.Orders, verdict.Resume)
	return ok && !c.At.Before(s.CalledAt)
}

// rejudged is why the review of this head is to be given anew.
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

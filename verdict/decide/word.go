package decide

import (
	"slices"
	"time"

	"touchstone/verdict"
)

// Replacement is a force push, which replaced the head with another commit.
type Replacement struct {
	At time.Time
	// SHA is the head after the push, empty if not known.
	SHA string
}

// ofThisBase reports whether a statement was made while the pull request had its present base. It was not if
// the base was rewritten, or another branch, since then. GitHub cuts times to seconds, so a statement in the
// same second may have been made before, and does not count.
func (s State) ofThisBase(at time.Time) bool {
	return s.BaseReplaced.IsZero() || at.After(s.BaseReplaced)
}

// ofThisHead reports whether the present head is known to have been the head at a given time and ever since.
// After a force push that left another commit, that is known only from when an agent saw the present head.
func (s State) ofThisHead(at time.Time) bool {
	switch {
	case s.Forced.At.IsZero():
		return true
	case s.Forced.SHA == s.Head:
		return at.After(s.Forced.At)
	}
	found := func(when time.Time) bool { return when.After(s.Forced.At) && !at.Before(when) }
	return found(s.CalledAt) || slices.ContainsFunc(s.Opinions, func(o Opinion) bool {
		return !o.void() && (s.trusts(o.By) || verdict.SameLogin(o.By, s.Self)) && o.SHA == s.Head && o.Record.Head == s.Head && found(o.At)
	})
}

// current reports whether a statement in a comment, made at a given time, was about the present head and
// base.
func (s State) current(at time.Time) bool { return s.ofThisBase(at) && s.ofThisHead(at) }

// withOrders is a record's ledger after the orders that people have given since about its findings, for the
// present base.
func (s State) withOrders(r verdict.Record) verdict.Ledger {
	return r.Ledger.Renewed(s.BaseReplaced).WithOrders(s.Orders, r.LastComment, s.BaseReplaced)
}

// lifted reports whether people let pass what the review at an index requests changes for, and returns the
// word of the person who did. If there is no review (index -1), or it does not stand, only a break-glass
// order can let the head pass.
func (s State) lifted(i int) (*verdict.Word, bool) {
	if i >= 0 && !s.stands(s.Opinions[i]) {
		i = -1
	}
	if i >= 0 && s.approved(i) {
		return nil, false
	}
	if word, ok := s.breakGlass(i); ok || i < 0 {
		return word, ok
	}
	r := s.Opinions[i].Record
	before, after := r.Ledger.Blocking(), s.withOrders(*r).Blocking()
	switch {
	case !r.Settled || after > 0:
		return nil, false
	case len(r.Holds) > 0:
		words := s.approvals(s.seen(i))
		if len(words) == 0 {
			return nil, false
		}
		return &words[0], true
	}
	return nil, before > 0
}

// approval is the record of an approval on a person's word, or with a nil word if waivers are enough. It is
// based on the review at an index or, at -1, on the bare head. It has no model and no costs, since no model
// was used.
func (s State) approval(i int, word *verdict.Word) *verdict.Record {
	r := verdict.Record{Head: s.Head, BaseBranch: s.BaseBranch}
	for _, past := range s.Opinions {
		if verdict.SameLogin(past.By, s.Self) && !past.void() {
			r.Round, r.Ledger, r.LastComment = past.Record.Round, past.Record.Ledger, past.Record.LastComment
		}
	}
	if i >= 0 && s.stands(s.Opinions[i]) {
		r = *s.Opinions[i].Record
	}
	r.Verdict, r.Lifted, r.Ledger = verdict.Approve, word, s.withOrders(r)
	for _, c := range s.Orders {
		r.LastComment = max(r.LastComment, c.ID)
	}
	r.Engine, r.Model, r.Usage, r.CostUSD, r.Duration = "", "", verdict.Usage{}, 0, 0
	return &r
}

// breakGlass is the order to let this head pass as it is. It only counts as an answer: to the review of the head
// at an index, or to a call for a person. Otherwise it could be meant for another head or base, or not know
// of a later finding.
func (s State) breakGlass(i int) (*verdict.Word, bool) {
	c, ok := verdict.LastOrder(s.Orders, verdict.BreakGlass)
	if !ok || !s.answers(c, i) {
		return nil, false
	}
	return &verdict.Word{By: c.By, At: c.At, Why: c.Reason, BrokeGlass: true}, true
}

// answers reports whether an order came after the review at an index, if there is one, or after a call for a
// person, and is about the present head and base.
func (s State) answers(c verdict.Command, i int) bool {
	review := i >= 0 && c.ID > s.Opinions[i].Record.LastComment && !c.At.Before(s.Opinions[i].At)
	call := !s.CalledAt.IsZero() && !c.At.Before(s.CalledAt)
	return (review || call) && s.current(c.At)
}

// approvals are the words of the people, oldest first, who approved this very head after the review at an
// index. Each person has one word, the latest. The author, agents, people without push access and people who
// wrote a part of it do not count.
func (s State) approvals(seen int) []verdict.Word {
	var all []verdict.Word
	for i, o := range s.Opinions {
		if s.ignored(i, seen) == "" && !s.replaced(i) {
			all = append(all, verdict.Word{By: o.By, At: o.At})
		}
	}
	return all
}

// upheld reports whether the review at an index needs no person's word for its approval, or that word still
// counts.
func (s State) upheld(i int) bool {
	r := s.Opinions[i].Record
	switch {
	case r.Lifted == nil:
		return len(r.Holds) == 0
	case r.Lifted.BrokeGlass:
		return s.current(r.Lifted.At) && slices.ContainsFunc(s.Orders, func(c verdict.Command) bool {
			return c.Verb == verdict.BreakGlass && verdict.SameLogin(c.By, r.Lifted.By) && c.At.Equal(r.Lifted.At)
		})
	}
	return slices.ContainsFunc(s.approvals(s.answered(i)), func(w verdict.Word) bool { return verdict.SameLogin(w.By, r.Lifted.By) })
}

// answered is the index of the review whose holds the review at an index lifts: the last earlier one of the
// same login and head that a session made; -1 if there is none.
func (s State) answered(i int) int {
	for n := i - 1; n >= 0; n-- {
		o := s.Opinions[n]
		if verdict.SameLogin(o.By, s.Opinions[i].By) && s.concerns(o) && (o.void() || o.Record.Lifted == nil) {
			return n
		}
	}
	return -1
}

// expired reports whether a record's approval depends on a waiver that people gave for an earlier base.
func (s State) expired(r verdict.Record) bool {
	return slices.ContainsFunc(r.Ledger, func(e verdict.Entry) bool { return e.Severity.Blocks() && e.WaivedBefore(s.BaseReplaced) })
}

// Ignored is a person's approval or order that does not count.
type Ignored struct {
	// By is the person. What is an approval, or an order's verb.
	By, What string
	At       time.Time
	// Why says, as a sentence fragment, why it does not count.
	Why string
}

// Ignored are the approvals of this head, and the orders to let something pass, that do not count although
// something waits for such a word, oldest first.
func (s State) Ignored() []Ignored {
	var all []Ignored
	add := func(by, what string, at time.Time, why string) {
		u := Ignored{By: by, What: what, At: at, Why: why}
		if why != "" && !slices.Contains(all, u) {
			all = append(all, u)
		}
	}
	for n := range s.words() {
		w, _ := s.wordOf(n)
		if w.takenBack || !s.stands(s.Opinions[w.index]) || s.approved(w.index) {
			continue
		}
		for i, o := range s.Opinions {
			if len(s.Opinions[w.index].Record.Holds) > 0 && o.State == "APPROVED" && o.SHA == s.Head && !s.isAgent(o) && !s.replaced(i) {
				add(o.By, "approval", o.At, s.ignored(i, s.seen(w.index)))
			}
		}
		for _, c := range s.Orders {
			add(c.By, string(c.Verb), c.At, s.ignoredOrder(c, w.index))
		}
	}
	slices.SortStableFunc(all, func(a, b Ignored) int { return a.At.Compare(b.At) })
	return all
}

// seen is the index of the review that a person must have seen to lift the holds of the review at an index:
// that review itself, unless it rests on a person's word.
func (s State) seen(i int) int {
	if s.Opinions[i].Record.Lifted != nil {
		return s.answered(i)
	}
	return i
}

// isAgent reports whether a review is by an agent, or by a login that an agent uses.
func (s State) isAgent(o Opinion) bool {
	return o.Record != nil || o.Doubt != "" || verdict.SameLogin(o.By, s.Self) || s.trusts(o.By)
}

// ignored says, as a sentence fragment, why the review at an index does not lift the holds of the review at
// seen; "" if it does.
func (s State) ignored(i, seen int) string {
	o := s.Opinions[i]
	switch {
	case o.State != "APPROVED" || o.SHA != s.Head:
		return "it does not approve this head"
	case verdict.SameLogin(o.By, s.Author):
		return "it is by the pull request's author"
	case s.isAgent(o) || !o.Person:
		return "it is not by a person"
	case !o.CanPush:
		return o.By + " may not push to the repository, or could not when an agent first saw it"
	case !o.Independent:
		return o.By + " wrote or pushed a part of what it approves"
	case !s.ofThisBase(o.At):
		return "it was given before the base was replaced"
	case i <= seen:
		return "it was given before the review that holds the change for a person"
	}
	return ""
}

// replaced reports whether the person who wrote the review at an index has given another opinion since.
func (s State) replaced(i int) bool {
	return slices.ContainsFunc(s.Opinions[i+1:], func(later Opinion) bool {
		return verdict.SameLogin(later.By, s.Opinions[i].By) && later.Record == nil && later.State != "COMMENTED"
	})
}

// ignoredOrder says, as a sentence fragment, why an order to let something pass does not count for the
// review at an index; "" if it counts, or is another order.
func (s State) ignoredOrder(c verdict.Command, i int) string {
	stands := slices.ContainsFunc(s.withOrders(*s.Opinions[i].Record), func(e verdict.Entry) bool { return e.ID == c.Finding && e.Stands() })
	switch {
	case c.Verb != verdict.BreakGlass && (c.Verb != verdict.Waive || !stands):
		return ""
	case !s.ofThisBase(c.At):
		return "it was given before the base was replaced"
	case c.Verb == verdict.Waive:
		return "it was given before the latest review of this head, which did not accept it: give it again"
	case !s.ofThisHead(c.At):
		return "it may have been given for another head"
	case !s.answers(c, i):
		return "it was given before the review of this head existed: give it again"
	}
	return ""
}

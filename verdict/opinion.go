package verdict

import (
	"maps"
	"slices"
	"strings"
)

// hearing is what the reviewers say of a head, from the mildest to what weighs
// most: of several the weightiest decides.
type hearing int

const (
	silent   hearing = iota // nobody has reviewed it
	approves                // it may be merged
	passes                  // changes are requested, but a person lets it pass
	disputes                // changes are requested, and a finding is to be judged again
	waits                   // a person has to let it pass, and is yet to be called
	objects                 // changes are requested
	doubtful                // a review was edited, or its parts disagree
)

// heard is what the configured reviewers say of this very head against this very
// base, of each the latest word.
func (s State) heard() hearing {
	all := silent
	for _, i := range s.latest() {
		all = max(all, s.hear(s.Opinions[i]))
	}
	return all
}

// Objection is the index of the opinion that a fix answers, the newest of the words that
// count and request changes; -1 and false if there is none.
func (s State) Objection() (int, bool) {
	for _, i := range slices.Backward(s.Counting()) {
		if o := s.Opinions[i]; s.stands(o) && o.Record.Verdict == RequestChanges {
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
		if !s.stands(o) || o.Record.Verdict != RequestChanges {
			continue
		}
		for _, e := range o.Record.Ledger.Heed(s.Orders, o.Record.Heard).Outstanding() {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

// Counting are the indices of the opinions that count of this head, oldest first: of each
// configured reviewer the latest word.
func (s State) Counting() []int { return slices.Sorted(maps.Values(s.latest())) }

// Approves reports whether the opinion at an index, one of Counting's, lets this head be
// merged: by itself, or on a person's word that stands.
func (s State) Approves(i int) bool { return s.stands(s.Opinions[i]) && s.approved(s.Opinions[i]) }

// latest are the indices of the opinions that count of this head, one of each configured
// reviewer: the latest, and of what two machines of one login found in the same round,
// the weightier. One whose latest word was dismissed says nothing until asked again.
func (s State) latest() map[string]int {
	latest := map[string]int{}
	for i, o := range s.Opinions {
		if !s.trusts(o.By) || !s.concerns(o) {
			continue
		}
		by := strings.ToLower(o.By)
		n, ok := latest[by]
		switch {
		case o.State == dismissed:
			if ok && o.silences(s.Opinions[n]) {
				delete(latest, by)
			}
		case ok && o.Record.Engine != "" && s.Opinions[n].rivals(o) && s.hear(s.Opinions[n]) > s.hear(o):
		default:
			latest[by] = i
		}
	}
	return latest
}

func (s State) hear(o Opinion) hearing {
	_, passed := s.lifted(&o)
	switch {
	case !s.stands(o):
		return doubtful
	case s.approved(o):
		return approves
	case passed:
		return passes
	case s.held(o):
		return waits
	case s.disputed(o):
		return disputes
	}
	return objects
}

// rivals reports whether two reviews of one login are of the same round and came of the
// same: each of a session, or of one person's word. Neither was given in the knowledge of
// the other.
func (o Opinion) rivals(p Opinion) bool {
	a, b := o.Record, p.Record
	return a.Round == b.Round && (a.Engine == "") == (b.Engine == "") && a.Lifted.same(b.Lifted)
}

const dismissed = "DISMISSED"

// silences reports whether a review, being dismissed, takes an earlier one of its login
// with it: nobody brings an approval back by dismissing what came after it. Of two at
// once, the one that weighs no more leaves the other one in force: the machine that came
// second withdraws its own.
func (o Opinion) silences(before Opinion) bool {
	heavier := o.Record.Verdict == RequestChanges && before.Record.Verdict == Approve
	return o.State == dismissed && (heavier || !before.rivals(o))
}

// own is this login's latest review of the head, the latest that stands if one
// does and none was dismissed since, or nil.
func (s State) own() *Opinion {
	var own *Opinion
	for i, o := range s.Opinions {
		if SameLogin(o.By, s.Self) && s.concerns(o) && (own == nil || s.stands(o) || !s.stands(*own) || o.silences(*own)) {
			own = &s.Opinions[i]
		}
	}
	return own
}

// concerns reports whether a review of ours is about this head and base.
func (s State) concerns(o Opinion) bool {
	return o.Record != nil && o.SHA == s.Head && o.Record.BaseBranch == s.BaseBranch && !o.Rebased
}

// stands reports whether a review that concerns this head is as it was posted.
func (s State) stands(o Opinion) bool {
	agrees := o.State == "APPROVED" && o.Record.Verdict == Approve || o.State == "CHANGES_REQUESTED" && o.Record.Verdict == RequestChanges
	return agrees && !o.Edited && o.Record.Head == s.Head
}

// approved reports whether a review approves, and does so by itself or on a
// person's word that stands.
func (s State) approved(o Opinion) bool {
	return o.Record.Verdict == Approve && s.upheld(*o.Record)
}

// held reports whether a person has to let pass what was reviewed, and has not
// been called to it. One who was, and took the label off, leaves it to be fixed.
func (s State) held(o Opinion) bool {
	person := len(o.Record.Holds) > 0 || o.Record.Verdict == Approve
	return person && !s.approved(o) && (s.CalledAt.IsZero() || s.CalledAt.Before(o.At))
}

// disputed reports whether a finding of a review was disputed since.
func (s State) disputed(o Opinion) bool {
	r := o.Record
	return slices.ContainsFunc(s.Orders, func(c Command) bool {
		return c.Verb == Dispute && c.ID > r.Heard && slices.ContainsFunc(r.Ledger, func(e Entry) bool { return e.ID == c.Finding && e.stands() })
	})
}

// lifted reports whether people let pass what a review of this head requests
// changes for, and gives the word of the one who does. A review that is nil, or
// does not stand, can only be passed over by breaking the glass.
func (s State) lifted(o *Opinion) (*Word, bool) {
	if o != nil && !s.stands(*o) {
		o = nil
	}
	if o != nil && s.approved(*o) {
		return nil, false
	}
	if word, ok := s.glass(o); ok || o == nil {
		return word, ok
	}
	r := o.Record
	before, after := count(r.Ledger, Entry.blocks), count(r.Ledger.Heed(s.Orders, r.Heard), Entry.blocks)
	switch {
	case !r.Settled || after > 0:
		return nil, false
	case len(r.Holds) > 0:
		words := s.approvals()
		if len(words) == 0 {
			return nil, false
		}
		return &words[0], true
	}
	return nil, before > 0
}

// approval is the record of an approval on a person's word, nil where waivers are
// all that it takes, of what was reviewed or, if nothing was, of the bare head. It
// used no model, so it counts nothing of one.
func (s State) approval(o *Opinion, word *Word) *Record {
	r := Record{Head: s.Head, BaseBranch: s.BaseBranch}
	for _, past := range s.Opinions {
		if SameLogin(past.By, s.Self) && past.Record != nil && !past.Edited {
			r.Round, r.Ledger, r.Heard = past.Record.Round, past.Record.Ledger, past.Record.Heard
		}
	}
	if o != nil && s.stands(*o) {
		r = *o.Record
	}
	r.Verdict, r.Lifted, r.Ledger = Approve, word, r.Ledger.Heed(s.Orders, r.Heard)
	for _, c := range s.Orders {
		r.Heard = max(r.Heard, c.ID)
	}
	r.Engine, r.Model, r.Tokens, r.CostUSD, r.Duration = "", "", Tokens{}, 0, 0
	return &r
}

// glass is the order to let this head pass as it is. It counts only if it came
// after a review of the head began or a person was called to it: nobody can have
// meant a head that was pushed later. An author cannot break the glass over a hold, or
// where nobody has looked for one.
func (s State) glass(o *Opinion) (*Word, bool) {
	c, ok := last(s.Orders, BreakGlass)
	known := o != nil && c.ID > o.Record.Heard || !s.CalledAt.IsZero() && !c.At.Before(s.CalledAt)
	if !ok || !known || SameLogin(c.By, s.Author) && (o == nil || len(o.Record.Holds) > 0) {
		return nil, false
	}
	return &Word{By: c.By, At: c.At, Why: c.Reason, Glass: true}, true
}

// approvals are the words of the people who approve this very head, oldest first:
// of others than its author and the agents, who may push, each their latest word.
func (s State) approvals() []Word {
	var all []Word
	for i, o := range s.Opinions {
		agent := o.Record != nil || SameLogin(o.By, s.Author) || SameLogin(o.By, s.Self) || s.trusts(o.By)
		takenBack := slices.ContainsFunc(s.Opinions[i+1:], func(later Opinion) bool {
			return SameLogin(later.By, o.By) && later.Record == nil && later.State != "COMMENTED"
		})
		if o.State == "APPROVED" && o.SHA == s.Head && o.Person && o.CanPush && !agent && !takenBack {
			all = append(all, Word{By: o.By, At: o.At})
		}
	}
	return all
}

// upheld reports whether the word stands on which a head was approved, if it took
// one.
func (s State) upheld(r Record) bool {
	switch {
	case r.Lifted == nil:
		return len(r.Holds) == 0
	case r.Lifted.Glass:
		return slices.ContainsFunc(s.Orders, func(c Command) bool {
			return c.Verb == BreakGlass && SameLogin(c.By, r.Lifted.By) && c.At.Equal(r.Lifted.At)
		})
	}
	return slices.ContainsFunc(s.approvals(), func(w Word) bool { return SameLogin(w.By, r.Lifted.By) })
}

// deleted is the login that GitHub shows for whoever deleted their account
// (https://docs.github.com/en/account-and-profile/setting-up-and-managing-your-personal-account-on-github/managing-your-personal-account/deleting-your-personal-account).
const deleted = "ghost"

// objector is somebody whose latest word asks for changes, or "".
func (s State) objector() string {
	var objectors []string
	for _, o := range s.objections() {
		objectors = append(objectors, strings.ToLower(o.By))
	}
	if len(objectors) == 0 {
		return ""
	}
	return slices.Min(objectors)
}

// objections are the latest words that ask for changes, whichever head they were said of,
// oldest first, of people who may write here and of agents. As on GitHub itself, a mere comment takes nothing back, nor does
// dismissing a later one. A person and the agent under the same login are two: neither
// takes back what the other said. All deleted accounts have one login, and may be as many
// people.
func (s State) objections() []Opinion {
	type voice struct {
		login string
		agent bool
	}
	latest := map[voice]int{}
	for i, o := range s.Opinions {
		switch o.State {
		case "APPROVED", "CHANGES_REQUESTED":
			if !o.CanPush && !s.trusts(o.By) && o.By != deleted {
				continue
			}
			v := voice{strings.ToLower(o.By), o.Record != nil && s.trusts(o.By)}
			if _, known := latest[v]; v.login != deleted || !known || o.State == "CHANGES_REQUESTED" {
				latest[v] = i
			}
		}
	}
	var all []Opinion
	for _, i := range slices.Sorted(maps.Values(latest)) {
		if s.Opinions[i].State == "CHANGES_REQUESTED" {
			all = append(all, s.Opinions[i])
		}
	}
	return all
}

// Objections are the words that keep a head from being merged which its reviewers approve,
// oldest first: of everybody, be it of another head.
func (s State) Objections() []Opinion { return s.withoutOvertaken().objections() }

func (s State) trusts(login string) bool {
	return !SameLogin(login, s.Author) && ListsLogin(s.Reviewers, login)
}

// Package decide owns the decision what a pull request needs next: one ordered list of named
// conditions for its merge, read off its state, of which an agent acts on the first that is unmet.
// What explains the decision reads the same list. It is pure and does no I/O.
package decide

import (
	"slices"

	"touchstone/verdict"
)

// Standing is how a condition stands.
type Standing string

// The standings of a condition. NotApplicable is for what does not matter in the state as it is,
// or cannot be told yet.
const (
	Met           Standing = "met"
	Unmet         Standing = "unmet"
	NotApplicable Standing = "not applicable"
)

// Merged is the name of the last condition: that the pull request is merged. It is unmet as long
// as the pull request is open.
const Merged = "merged"

// The names of conditions that are unmet because of one person.
const (
	goesOn      = "not stopped"
	noObjection = "no objection"
)

// Condition is one of the things that have to be true before a pull request is merged.
type Condition struct {
	// Name is a short lower-case name that stays the same.
	Name  string   `json:"name"`
	State Standing `json:"state"`
	// Turn is whose turn it is as long as the condition is unmet; empty otherwise.
	Turn verdict.Turn `json:"turn,omitempty"`
	// Reason says how it stands, as a sentence part without a full stop. It is empty for a
	// condition that does not apply. It can quote names and words of others.
	Reason string `json:"reason,omitempty"`
}

// Conditions are the conditions for a pull request to be merged, as the agent of the state's role
// goes by them, in the order in which it does. The first that is unmet is what it acts on, or
// waits for.
func Conditions(s State) []Condition {
	s = s.complete()
	var all []Condition
	decided := false
	for _, r := range rules(s) {
		o := r.check(s)
		c := Condition{Name: r.name, State: o.state}
		switch o.state {
		case Unmet:
			c.Turn, c.Reason = o.turn, o.reason
		case Met:
			c.Reason = r.met
		}
		switch {
		case o.state == Unmet && !decided:
			decided = true
			if g, ok := s.guarded(o); ok {
				all = append(all, Condition{Name: g.name, State: Unmet, Turn: g.turn, Reason: g.act.Reason})
			} else if o.act.Kind == Escalate {
				c.Reason = o.act.Reason
			}
		case r.name == Merged:
			c.Reason = "what comes before that is not so"
		}
		all = append(all, c)
	}
	return all
}

// Next decides what the agent does now: what the first unmet condition asks of it. It is pure and
// fails closed: what it does not understand ends in Wait or Escalate, never in Merge.
func Next(s State) Action {
	s = s.complete()
	for _, r := range rules(s) {
		o := r.check(s)
		if o.state != Unmet {
			continue
		}
		name := r.name
		if g, ok := s.guarded(o); ok {
			name, o = g.name, g.outcome
		}
		a, left := s.leaveToAnother(o.act)
		a.Condition, a.Turn = name, o.turn
		a.On = s.party(a)
		if !left {
			a.Status = s.status(a)
		}
		return a
	}
	return s.act(Wait, "no condition is unmet") // which the last one always is
}

// rule is a condition with how it is checked.
type rule struct {
	name string
	// met says what is true when it is met.
	met   string
	check func(State) outcome
}

// outcome is how a condition stands and, of one that is unmet, what the agent does about it.
type outcome struct {
	state Standing
	turn  verdict.Turn
	act   Action
	// reason is why it is unmet: mostly the act's.
	reason string
}

var met, notApplicable = outcome{state: Met}, outcome{state: NotApplicable}

// unmet is a condition about which an agent does something. Whom it calls, or whom it tells, has
// the turn.
func unmet(turn verdict.Turn, a Action) outcome {
	switch a.Kind {
	case Escalate:
		turn = verdict.TurnPerson
	case Tell:
		turn = verdict.TurnAuthor
	}
	return outcome{state: Unmet, turn: turn, act: a, reason: a.Reason}
}

// because is the outcome with a reason of its own, where that of the act tells less, or of other
// conditions too.
func (o outcome) because(reason string) outcome {
	o.reason = reason
	return o
}

// metIf is met where that is so, and else what the agent does about it.
func metIf(ok bool, turn verdict.Turn, act func() Action) outcome {
	if ok {
		return met
	}
	return unmet(turn, act())
}

// rules are the conditions by which the agent of a state's role goes, in their order.
func rules(s State) []rule {
	if s.Role == Reviewer {
		return reviewerRules
	}
	return authorRules
}

// complete is the state with what follows from other parts of it.
func (s State) complete() State {
	if s.Shared && s.Manual.Why == "" {
		s.Manual = Left{Topic: "shared", Why: sharedBranch}
	}
	return s
}

// general are the conditions of both roles that come first.
var general = []rule{
	{"open", "it is open", State.isOpen},
	{"known", "GitHub says whose it is and what its head is", func(s State) outcome {
		switch {
		case !s.known():
			return unmet(verdict.TurnNobody, s.act(Wait, "GitHub's answer is incomplete"))
		case s.Role != Reviewer && s.Role != Author:
			return unmet(verdict.TurnNobody, s.act(Wait, "the agent has no role"))
		}
		return met
	}},
}

var (
	notDraft = rule{"ready", "it is no draft", func(s State) outcome {
		return metIf(!s.Draft, verdict.TurnAuthor, func() Action { return s.act(Wait, "it is a draft") })
	}}
	notStopped = rule{goesOn, "nobody has stopped the agents", func(s State) outcome {
		return metIf(s.stopped() == "", verdict.TurnPerson, func() Action { return s.act(Wait, s.stopped()) })
	}}
	noPersonCalled = rule{"no person called", "it waits for no person", func(s State) outcome {
		o := metIf(!s.NeedsHuman, verdict.TurnPerson, s.waitForPerson)
		if o.act.Kind == Wait && !s.LabelledAt.IsZero() {
			o = o.because("it waits for a person since " + verdict.Stamp(s.LabelledAt) + s.called())
		}
		return o
	}}
)

// guarded is a condition that only counts for some acts, and that is unmet for what the agent
// would do about another one: to merge what was not read whole, say. It comes before that one.
type guarded struct {
	name string
	outcome
}

// guarded is the last of the guards that keeps the agent from what it would do about an unmet
// condition; ok is false if none does.
func (s State) guarded(o outcome) (g guarded, ok bool) {
	before := func(name string, turn verdict.Turn, a Action) {
		g, ok = guarded{name, unmet(turn, a)}, true
		o = g.outcome
	}
	if !s.Open || !s.known() {
		return g, false
	}
	if a, unmergeable := s.unreviewable(o.act); unmergeable {
		turn := verdict.TurnAuthor
		if a.Kind == Wait && a.Awaits == "" {
			turn = verdict.TurnPerson
		}
		before("reviewable", turn, a)
	}
	if s.Role == Author && s.InQueue && s.Enqueued && o.act.Kind != Skip && o.act.Reason != inQueue && o.act.Reason != inQueueLong {
		before("not in the queue", verdict.TurnAuthor, s.retry(Dequeue, "it is in the merge queue, and is to be merged no more: "+o.act.Reason))
	}
	if s.Unread != "" && slices.Contains([]Kind{Review, Lift, Fix, Apply, Merge, Tell}, o.act.Kind) {
		before("read whole", verdict.TurnPerson, s.unreadable())
	}
	return g, ok
}

func (s State) known() bool { return s.Self != "" && s.Author != "" && s.Head != "" }

// unreadable is for a pull request that was not read whole, and for which more would have to be
// done than was read: a person is called to it instead, once for each head. What people order that
// takes no more than was read is done: the label goes when they say so, and an order that cannot
// be followed is answered.
func (s State) unreadable() Action {
	switch {
	case s.NeedsHuman:
		return s.act(Wait, "it waits for a person: "+s.Unread)
	case !s.CalledAt.IsZero():
		return s.act(Wait, s.Unread+", and is left to people, who were called to it")
	}
	return s.escalate(s.Unread + ": decide it by hand, or open another pull request of the same branch")
}

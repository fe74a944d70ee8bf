// Package decide owns the decision what a pull request needs next. It is one ordered list of named conditions
// for the merge, checked against the pull request's state. An agent acts on the first condition that is
// unmet, and the explanations of the decision read the same list. The package is pure: it does no I/O.
package decide

import (
	"slices"

	"touchstone/verdict"
)

// Standing is whether a condition is met.
type Standing string

// The standings of a condition. NotApplicable means that the condition does not matter in the present state,
// or cannot be decided yet.
const (
	Met           Standing = "met"
	Unmet         Standing = "unmet"
	NotApplicable Standing = "not applicable"
)

// Merged is the name of the last condition: the pull request is merged. It is unmet as long as the pull
// request is open.
const Merged = "merged"

// The names of conditions that are told apart by name, here or by [Condition]'s methods.
const (
	goesOn      = "not stopped"
	reviewed    = "reviewed"
	letPass     = "let pass"
	approved    = "approved"
	noObjection = "no objection"
	checks      = "checks"
)

// Condition is one of the things that must be true before a pull request is merged.
type Condition struct {
	// Name is a short lower-case name that does not change between versions.
	Name  string   `json:"name"`
	State Standing `json:"state"`
	// Turn says whose turn it is while the condition is unmet; otherwise it is empty.
	Turn verdict.Turn `json:"turn,omitempty"`
	// Reason explains the standing, as a sentence fragment without a full stop. It is empty for a condition
	// that does not apply. It can quote other people's names and words.
	Reason string `json:"reason,omitempty"`
}

// OfApproval reports whether the condition is one of those for the approval of the head.
func (c Condition) OfApproval() bool {
	return slices.Contains([]string{reviewed, letPass, approved}, c.Name)
}

// OfMerge reports whether GitHub keeps the condition's state at the time of the merge.
func (c Condition) OfMerge() bool {
	return c.OfApproval() || c.Name == noObjection || c.Name == checks
}

// Conditions are the conditions for the merge of a pull request, in the order in which the agent of the
// state's role checks them. The agent acts on the first that is unmet, or waits for it.
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
			if f, ok := s.forbidden(o); ok {
				all = append(all, Condition{Name: f.name, State: Unmet, Turn: f.turn, Reason: f.act.Reason})
			} else if o.act.Kind == Escalate {
				c.Reason = o.act.Reason
			}
		case r.name == Merged:
			c.Reason = "an earlier condition is not met"
		}
		all = append(all, c)
	}
	return all
}

// Next decides what the agent does now: what the first unmet condition demands. It is pure and fails closed:
// in a state that it does not understand it returns Wait or Escalate, never Merge.
func Next(s State) Action {
	s = s.complete()
	for _, r := range rules(s) {
		o := r.check(s)
		if o.state != Unmet {
			continue
		}
		name := r.name
		if f, ok := s.forbidden(o); ok {
			name, o = f.name, f.outcome
		}
		a, left := s.leaveToAnother(o.act)
		a.Condition, a.Turn = name, o.turn
		a.On = s.party(a)
		if !left {
			a.Status = s.status(a)
		}
		return a
	}
	return s.act(Wait, "no condition is unmet") // unreachable: the condition Merged is always unmet
}

// rule is a condition and its check.
type rule struct {
	name string
	// met is the reason to show when the condition is met.
	met   string
	check func(State) outcome
}

// outcome is the standing of a condition and, if it is unmet, what the agent does about it.
type outcome struct {
	state Standing
	turn  verdict.Turn
	act   Action
	// reason says why the condition is unmet. It is mostly the act's reason.
	reason string
}

var met, notApplicable = outcome{state: Met}, outcome{state: NotApplicable}

// unmet is the outcome of an unmet condition with the agent's act. An act that calls a person, or tells the
// author something, also passes the turn to them.
func unmet(turn verdict.Turn, a Action) outcome {
	switch a.Kind {
	case Escalate:
		turn = verdict.TurnPerson
	case Tell:
		turn = verdict.TurnAuthor
	}
	return outcome{state: Unmet, turn: turn, act: a, reason: a.Reason}
}

// because replaces the outcome's reason, for an act whose own reason says too little or is about other
// conditions too.
func (o outcome) because(reason string) outcome {
	o.reason = reason
	return o
}

// metIf is met if ok is true; otherwise it is unmet with the agent's act.
func metIf(ok bool, turn verdict.Turn, act func() Action) outcome {
	if ok {
		return met
	}
	return unmet(turn, act())
}

// rules are the conditions of the state's role, in order.
func rules(s State) []rule {
	if s.Role == Reviewer {
		return reviewerRules
	}
	return authorRules
}

// complete fills in the fields of the state that follow from others.
func (s State) complete() State {
	if s.Shared && s.Manual.Why == "" {
		s.Manual = Left{Topic: "shared", Why: sharedBranch}
	}
	return s
}

// general are the conditions that come first for both roles.
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

// forbidding is a condition that only forbids certain acts, for instance to merge what was not read completely.
// It is unmet if the agent would do such an act about another condition, and stands before that one.
type forbidding struct {
	name string
	outcome
}

// forbidden is the last condition that forbids what the agent would do about an unmet condition. Result ok is false
// if none does.
func (s State) forbidden(o outcome) (f forbidding, ok bool) {
	before := func(name string, turn verdict.Turn, a Action) {
		f, ok = forbidding{name, unmet(turn, a)}, true
		o = f.outcome
	}
	if !s.Open || !s.known() {
		return f, false
	}
	if a, unmergeable := s.unreviewable(o.act); unmergeable {
		turn := verdict.TurnAuthor
		if a.Kind == Wait && a.Awaits == "" {
			turn = verdict.TurnPerson
		}
		before("reviewable", turn, a)
	}
	if s.Role == Author && s.InQueue && s.Enqueued && o.act.Kind != Skip && o.act.Reason != inQueue && o.act.Reason != inQueueLong {
		before("not in the queue", verdict.TurnAuthor, s.retry(Dequeue,
			"it is in the merge queue, but must not be merged any more: "+o.act.Reason))
	}
	if s.Unread != "" && slices.Contains([]Kind{Review, Lift, Fix, Apply, Merge, Tell}, o.act.Kind) {
		before("read whole", verdict.TurnPerson, s.unreadable())
	}
	return f, ok
}

func (s State) known() bool { return s.Self != "" && s.Author != "" && s.Head != "" }

// unreadable is the action for a pull request that was not read completely when the next act needs more than
// was read: it calls a person instead, once for each head. People's orders that need no more than what was
// read are still followed: the label is removed when they say so, and an order that cannot be followed gets
// an answer.
func (s State) unreadable() Action {
	switch {
	case s.NeedsHuman:
		return s.act(Wait, "it waits for a person: "+s.Unread)
	case !s.CalledAt.IsZero():
		return s.act(Wait, s.Unread+", and is left to people, who were called")
	}
	return s.escalate(s.Unread + ": decide it by hand, or open another pull request of the same branch")
}

package decide

import (
	"maps"
	"slices"
	"strings"

	"touchstone/verdict"
)

// objector is the login of somebody whose latest review requests changes and who can withdraw that, or "".
// Overtaken says that no such review is about this head and base.
func (s State) objector() (login string, overtaken bool) {
	var now, before []string
	for _, o := range s.objections() {
		switch {
		case s.uncertain(o):
		case o.SHA == s.Head && (o.Record == nil || s.concerns(o)):
			now = append(now, strings.ToLower(o.By))
		default:
			before = append(before, strings.ToLower(o.By))
		}
	}
	switch {
	case len(now) > 0:
		return slices.Min(now), false
	case len(before) > 0:
		return slices.Min(before), true
	}
	return "", false
}

// objected waits until an objection is withdrawn. GitHub and the agents send no reminder of an objection to
// another head or base, so the pull request's author is told once.
func (s State) objected(objector string, overtaken bool) Action {
	reason := objector + " still requests changes"
	if !overtaken {
		return s.act(Wait, reason)
	}
	reason += " of an earlier head or base"
	left := s.left(rulePatience)
	switch {
	case s.noticed(Left{Topic: Overtaken}):
		return s.act(Wait, reason)
	case left > 0:
		return Action{Kind: Wait, SHA: s.Head, Reason: reason, Recheck: left}
	}
	return s.tell(Overtaken, "it is approved, and "+reason)
}

// uncertain reports whether nobody can tell if an objection was withdrawn: it is by a reviewer's login, and
// was edited or cannot be believed.
func (s State) uncertain(o Opinion) bool { return s.trusts(o.By) && (o.Edited || o.Doubt != "") }

// latestObjections are the latest reviews that request changes to any head, oldest first, by people with write
// access and by agents. As on GitHub, a plain comment does not withdraw an objection, nor does the dismissal
// of a later review, nor an approval by an agent that did not know of it (see wordOf). A person and an agent under the
// same login count as two: neither withdraws the other's objection. All deleted accounts share one login, and may be
// different people.
func (s State) latestObjections() []Opinion {
	type voice struct {
		login string
		agent bool
	}
	latest := map[voice]int{}
	other := map[string]*verdict.Record{} // each agent's newest of this head for another base
	for i, o := range s.Opinions {
		login := strings.ToLower(o.By)
		switch {
		case !s.trusts(o.By): // a record in a person's review says nothing
		case s.elsewhere(o):
			other[login] = newer(other[login], o.Record)
		case s.concerns(o) && o.unaware(other[login]):
			continue
		}
		switch o.State {
		case "APPROVED", "CHANGES_REQUESTED":
			if !o.CanPush && !s.trusts(o.By) && o.By != verdict.DeletedLogin {
				continue
			}
			v := voice{login, o.Record != nil && s.trusts(o.By)}
			if _, known := latest[v]; v.login != verdict.DeletedLogin || !known || o.State == "CHANGES_REQUESTED" {
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

// objections are the reviews, oldest first, that block the merge of a head although its reviewers approve it.
// They are of all reviewers, and may be about another head.
func (s State) objections() []Opinion { return s.withoutOvertaken().latestObjections() }

// withoutOvertaken is the state without a reviewing agent's opinions on other heads, or on this head against
// another base, if that agent approves this head. A force push can restore an approved head after a later one
// was objected to, and so can switching back to a former base. Such an objection would never be withdrawn.
func (s State) withoutOvertaken() State {
	approving := map[string]bool{}
	for by, w := range s.words() {
		approving[by] = s.stanceOf(w) == approves
	}
	s.Opinions = slices.DeleteFunc(slices.Clone(s.Opinions), func(o Opinion) bool {
		return o.Record != nil && !s.concerns(o) && approving[strings.ToLower(o.By)]
	})
	return s
}

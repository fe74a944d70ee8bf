package schedule

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"touchstone/agent/e2e/arena"
	"touchstone/agent/forge"
	"touchstone/verdict"
	"touchstone/verdict/decide"
	"touchstone/worktree/steps"
)

// check checks the pull request for outcomes that must never happen.
func (w *world) check() {
	p := w.Pull()
	reviews := w.Reviews()
	w.checkReviews(reviews, w.due)
	if p.Merged {
		w.checkBase(p, reviews, w.checkMerge(p, reviews))
	}
	w.checkPushes()
	w.checkBranches(p)
	w.checkStatuses()
	_, standing := w.approved(reviews, p.Head.SHA)
	switch {
	case w.result.Stuck != "":
	case p.Merged:
		w.result.End = "merged"
	case p.State == "closed":
		w.result.End = "closed"
	case p.Labelled("needs-human"):
		w.result.End = "called"
	case w.stopped():
		w.result.End = "stopped"
	case w.objected(reviews):
		w.result.End = "objected"
	case p.Labelled(manual) && standing && w.told("waits for its author"):
		w.result.End = "left"
	case dismissed(reviews, p.Head.SHA) && w.told("a review of this head was dismissed; request it again"):
		w.result.End = "dismissed"
	default:
		w.result.Stuck = "it is open, nobody is called, and nobody objects"
	}
}

// told reports whether a comment on the pull request contains a text.
func (w *world) told(what string) bool {
	return slices.ContainsFunc(w.Comments(), func(c arena.Post) bool { return strings.Contains(c.Body, what) })
}

func (w *world) violated(format string, args ...any) {
	w.result.Violations = append(w.result.Violations, fmt.Sprintf(format, args...))
}

// checkReviews checks that a head is reviewed once for each base and each person's word that let it pass. One
// more review is allowed for each order to review again, after a review for another base or one that was begun without
// knowledge of such a review, and each time that due reports that merging the head makes another change than at its
// last review, or that the base of that review was rewritten.
func (w *world) checkReviews(reviews []arena.Post, due func(earlier, later verdict.Record) bool) {
	ordered := 0
	for _, verb := range w.orders {
		if verb == verdict.AskReview {
			ordered++
		}
	}
	last, again := map[string]verdict.Record{}, map[string]int{}
	bases := map[string]map[string]int{} // the last round for each base, by head
	for _, r := range reviews {
		record, err := verdict.ParseRecord(r.Body)
		if r.User.Login == arena.Judge && r.State == "DISMISSED" && err == nil {
			forget(last, record) // it was made all the same
		}
		if r.User.Login != arena.Judge || r.State == "DISMISSED" || w.silenced[r.ID] {
			continue
		}
		if err != nil {
			w.violated("a review of %.7s has no record: %v", r.CommitID, err)
			continue
		}
		word := ""
		if l := record.Lifted; l != nil {
			word = fmt.Sprint(l.By, l.At)
		}
		key := fmt.Sprintf("%s %s %s", r.CommitID, record.BaseBranch, word)
		if earlier, is := last[key]; is && !due(earlier, record) {
			if again[key]++; again[key] > ordered {
				w.violated("%.7s was reviewed %d times", r.CommitID, again[key]+1)
			}
		}
		forget(last, record)
		last[key] = record
		if bases[record.Head] == nil {
			bases[record.Head] = map[string]int{}
		}
		for base, round := range bases[record.Head] {
			if base != record.BaseBranch && record.Round <= round {
				delete(last, key)
			}
		}
		bases[record.Head][record.BaseBranch] = record.Round
	}
}

// forget removes the records of a head for other bases than that of a later one: after it, such a review is due again.
func forget(last map[string]verdict.Record, later verdict.Record) {
	maps.DeleteFunc(last, func(_ string, earlier verdict.Record) bool {
		return earlier.Head == later.Head && earlier.BaseBranch != later.BaseBranch
	})
}

// due reports whether a head had to be reviewed again, because the base's commit of the review was removed from
// the base, or because merging the head makes another change. An error of git is no reason.
func (w *world) due(earlier, later verdict.Record) bool {
	if !w.hub.Contains(later.Base, earlier.Base) {
		return true
	}
	same := true
	err := steps.Try(func() {
		same = maps.Equal(w.change(earlier.Base, earlier.Head), w.change(later.Base, later.Head))
	})
	return err == nil && !same
}

// change returns what merging a head into a commit of its base changes, in the form of between.
func (w *world) change(base, head string) map[string][2]string {
	tree := steps.Got(w.hub.MergeTree(w.Ctx, base, head))
	if tree == "" {
		steps.Fail("%.7s and %.7s conflict", base, head)
	}
	onto := steps.Got(w.hub.Commit(base))
	return w.between(onto.Tree, tree)
}

// between returns the differences between two trees, by path: the file before and after, "" for none.
func (w *world) between(from, to string) map[string][2]string {
	before := steps.Got(w.hub.Files(from))
	after := steps.Got(w.hub.Files(to))
	changed := map[string][2]string{}
	for name, was := range before {
		if is := after[name]; is != was {
			changed[name] = [2]string{was, is}
		}
	}
	for name, is := range after {
		if before[name] == "" {
			changed[name] = [2]string{"", is}
		}
	}
	return changed
}

// checkMerge checks that the merged head itself was approved, and that a person let it pass if it was held. It
// returns the record of the approval.
func (w *world) checkMerge(p arena.Pull, reviews []arena.Post) verdict.Record {
	head, passed, held := p.Head.SHA, false, false
	for _, r := range reviews {
		if r.CommitID != head {
			continue
		}
		record, err := verdict.ParseRecord(r.Body)
		switch {
		case w.byPerson(r) && r.State == "APPROVED":
			passed = true
		case r.User.Login == arena.Judge && err == nil:
			held = held || len(record.Holds) > 0
			passed = passed || record.Lifted != nil && record.Lifted.BrokeGlass && record.Lifted.By == arena.Owner
		}
	}
	record, ok := w.approved(reviews, head)
	switch {
	case !ok:
		w.violated("%.7s was merged and never approved", head)
	case record.BaseBranch != p.Base.Ref:
		w.violated("%.7s was merged into %s and approved for %s", head, p.Base.Ref, record.BaseBranch)
	}
	if w.objected(reviews) {
		w.violated("%.7s was merged over a person's objection", head)
	}
	if held && !passed {
		w.violated("%.7s was merged without the person that it was held for", head)
	}
	return record
}

// checkBase checks that the merge is based on the reviewed base and makes the reviewed change. It must drop no
// fix, except one that a review named and that the owner then let go by breaking the glass.
func (w *world) checkBase(p arena.Pull, reviews []arena.Post, record verdict.Record) {
	if record.Base == "" {
		return // never approved, which checkMerge reports
	}
	if !w.hub.Contains(p.MergeCommitSHA, record.Base) {
		w.violated("%.7s was merged into a base that was rewritten after its review", p.Head.SHA)
	}
	reviewed := w.change(record.Base, p.Head.SHA)
	commit := steps.Got(w.hub.Commit(p.MergeCommitSHA))
	onto := steps.Got(w.hub.Commit(commit.Parents[0]))
	merged := w.between(onto.Tree, commit.Tree)
	if !maps.Equal(merged, reviewed) {
		w.violated("%.7s was merged and changes something else than what was reviewed", p.Head.SHA)
	}
	if dropped := merged[fix]; dropped[0] != "" && dropped[1] == "" && !letGo(reviews, record) {
		w.violated("%.7s was merged and dropped a fix", p.Head.SHA)
	}
}

// letGo reports whether an approval is based on the owner breaking the glass after a review of the same head
// that named the dropped fix.
func letGo(reviews []arena.Post, approval verdict.Record) bool {
	word := approval.Lifted
	if word == nil || !word.BrokeGlass || word.By != arena.Owner {
		return false
	}
	return slices.ContainsFunc(reviews, func(r arena.Post) bool {
		said, err := verdict.ParseRecord(r.Body)
		names := func(e verdict.Entry) bool { return e.Claim == drops }
		before := r.User.Login == arena.Judge && r.CommitID == approval.Head && !r.SubmittedAt.After(word.At)
		return before && err == nil && said.Lifted == nil && slices.ContainsFunc(said.Ledger, names)
	})
}

// approved returns the record of the agents' last review of a head, if that review stands and approves. A
// review that a person edited or dismissed counts as none.
func (w *world) approved(reviews []arena.Post, head string) (record verdict.Record, ok bool) {
	for _, r := range reviews {
		if r.User.Login != arena.Judge || r.CommitID != head {
			continue
		}
		said, err := verdict.ParseRecord(r.Body)
		switch {
		case w.silenced[r.ID]:
			ok = false
		case err == nil && r.State != "DISMISSED":
			record, ok = said, r.State == "APPROVED" && said.Head == head
		}
	}
	return record, ok
}

// dismissed reports whether a person dismissed the reviewer's last review of a head.
func dismissed(reviews []arena.Post, head string) bool {
	last := ""
	for _, r := range reviews {
		if r.User.Login == arena.Judge && r.CommitID == head {
			last = r.State
		}
	}
	return last == "DISMISSED"
}

// barred returns why the agents must not act on the pull request; empty if they may. It makes no request, which
// could use up a fault.
func (w *world) barred() string {
	state, labels := w.Sim.PullState(w.Ref.Repo.String(), w.Ref.Number)
	switch {
	case state == "closed":
		return "it is closed"
	case slices.Contains(labels, "needs-human"):
		return "it waits for a person"
	case w.stopped():
		return "a person stopped them"
	}
	return ""
}

// checkStatuses checks that at rest the commit status of each role shows the current decision. Two machines of
// a login remember different things and may decide differently: the status must then show one of their
// decisions.
func (w *world) checkStatuses() {
	if w.result.Stuck != "" {
		return // some agent is still busy
	}
	for role, name := range map[decide.Role]string{decide.Reviewer: forge.ReviewContext, decide.Author: forge.FixContext} {
		var want []string
		said := "nothing"
		for _, m := range w.machines {
			if m.role != role {
				continue
			}
			pr, action, err := m.agent.Look(w.Ctx, w.Ref)
			steps.Must(err)
			if s := action.Status; s != (decide.Status{}) {
				want = append(want, string(s.Signal)+", "+forge.OneLine(s.Text))
			}
			for _, c := range pr.Statuses {
				if c.Name == name {
					said = string(c.State) + ", " + c.Summary
				}
			}
			if slices.Contains(want, said) {
				break
			}
		}
		if len(want) > 0 && !slices.Contains(want, said) {
			w.violated("%s says %q, and %q is decided", name, said, want)
		}
	}
}

// checkBranches checks that the agents push only to the pull request's branch.
func (w *world) checkBranches(p arena.Pull) {
	refs := steps.Got(w.hub.Refs())
	for _, ref := range slices.Sorted(maps.Keys(refs)) {
		name, is := strings.CutPrefix(ref, "refs/heads/")
		if is && name != "main" && name != branch && !slices.Contains(w.others, name) {
			w.violated("somebody made the branch %s", name)
		}
	}
	commits := steps.Got(w.hub.Between("", refs["refs/heads/main"]))
	for _, c := range commits {
		if _, fix := verdict.ParseRepair(c.Message); fix && (!p.Merged || c.SHA != p.MergeCommitSHA) {
			w.violated("%.7s is a fix, and was pushed to main", c.SHA)
		}
	}
}

// tip returns the commit of a branch.
func (w *world) tip(name string) string { return steps.Got(w.hub.Refs())["refs/heads/"+name] }

// checkPushes checks that the branch has all commits that people pushed, and none that a person removed.
func (w *world) checkPushes() {
	if len(w.pushed) == 0 {
		return // the branch no longer exists
	}
	tip := w.tip(branch)
	// Contains is false for an unreadable tip, so read the tip first.
	steps.Got(w.hub.Commit(tip))
	for _, sha := range w.pushed {
		if !w.hub.Contains(tip, sha) {
			w.violated("%.7s is not in the branch any more", sha)
		}
	}
	for _, sha := range w.removed {
		if w.hub.Contains(tip, sha) {
			w.violated("%.7s was taken off the branch, and is there again", sha)
		}
	}
}

// byPerson reports whether a review is the person's own, under either login of that account.
func (w *world) byPerson(r arena.Post) bool {
	return (r.User.Login == arena.Person || r.User.Login == renamed) && !w.strange[r.ID]
}

// objected reports whether a person's last effective review requests changes.
func (w *world) objected(reviews []arena.Post) bool {
	last := ""
	for _, r := range reviews {
		if w.byPerson(r) && r.State != "COMMENTED" {
			last = r.State
		}
	}
	return strings.EqualFold(last, "CHANGES_REQUESTED")
}

package decide

import (
	"testing"
	"time"

	"touchstone/verdict"
)

// heldBy is alice's review, which requests changes for a hold and, with
// findings, for those as well.
func heldBy(findings ...verdict.Entry) Opinion {
	o := says("alice", head, verdict.RequestChanges)
	o.Record.Settled, o.Record.Holds, o.Record.Ledger = true, []verdict.Hold{{Kind: verdict.QualityBar, Path: "a_test.go"}}, findings
	return o
}

// found is alice's review, which requests changes for findings alone.
func found(findings ...verdict.Entry) Opinion {
	o := heldBy(findings...)
	o.Record.Holds = nil
	return o
}

// lifted is alice's approval on somebody's word.
func lifted(w verdict.Word) Opinion {
	o := says("alice", head, verdict.Approve)
	o.Record.Settled, o.Record.Holds, o.Record.Lifted = true, []verdict.Hold{{Kind: verdict.QualityBar}}, &w
	return o
}

func entry(id string, s verdict.Severity) verdict.Entry {
	return verdict.Entry{ID: id, Status: verdict.Open, Severity: s}
}

// by is a person's review.
func by(login, sha, state string) Opinion {
	return Opinion{By: login, SHA: sha, State: state, Person: true, CanPush: true, Independent: true, At: noon.Add(time.Minute)}
}

func ordered(verb verdict.Verb, by string, after time.Duration) verdict.Command {
	return verdict.Command{ID: int64(after), Verb: verb, Finding: "0badcafe", Reason: "because", By: by, At: noon.Add(after)}
}

func TestReviewerLiftsAHoldOnAPersonsWord(t *testing.T) {
	opinions := func(all ...Opinion) func(*State) { return func(s *State) { s.Opinions = all } }
	also := func(first func(*State), then func(*State)) func(*State) { return func(s *State) { first(s); then(s) } }
	called := func(s *State) { s.NeedsHuman, s.CalledAt, s.EscalatedAt = true, noon, noon }
	orders := func(all ...verdict.Command) func(*State) { return func(s *State) { s.Orders = all } }
	lone := by("mona", head, "APPROVED")
	runNext(t, asks, []nextCase{
		{"held", opinions(heldBy()), Escalate, "only a person may let it pass"},
		{"held, and called", also(opinions(heldBy()), called), Wait, "waits for a person"},
		{"called, and the label taken off", also(opinions(heldBy()), func(s *State) { s.CalledAt = noon }), Wait, "is reviewed"},
		{"called to an older head", also(opinions(heldBy()), func(s *State) { s.EscalatedAt = noon }), Escalate, ""},
		{"a person approves", also(opinions(heldBy(), lone), called), Lift, "a person lets it pass"},
		{"a person approved before", opinions(lone, heldBy()), Escalate, "only a person may let it pass"},
		{"a person approved before, and again", opinions(lone, heldBy(), lone), Lift, ""},
		{"who wrote a part approves", also(opinions(heldBy(), func() Opinion { o := lone; o.Independent = false; return o }()), called), Wait,
			""},
		{"an older head", also(opinions(heldBy(), by("mona", older, "APPROVED")), called), Wait, ""},
		{"approved, then dismissed", also(opinions(heldBy(), by("mona", head, "DISMISSED")), called), Wait, ""},
		{"approved, then taken back", also(opinions(heldBy(), lone, by("Mona", head, "CHANGES_REQUESTED")), called), Wait, ""},
		{"approved, then commented", also(opinions(heldBy(), lone, by("mona", head, "COMMENTED")), called), Lift, ""},
		{"the author approves", also(opinions(heldBy(), by("octocat", head, "APPROVED")), called), Wait, ""},
		{"the reviewer's owner approves", also(opinions(heldBy(), by("Alice", head, "APPROVED")), called), Wait, ""},
		{"another reviewing agent approves", also(opinions(heldBy(), says("bob", head, verdict.Approve)), called), Wait, ""},
		{"a bot approves", also(opinions(heldBy(), func() Opinion { o := lone; o.Person = false; return o }()), called), Wait, ""},
		{"a stranger approves", also(opinions(heldBy(), func() Opinion { o := lone; o.CanPush = false; return o }()), called), Wait, ""},
		{"held, and a finding", also(opinions(heldBy(entry("0badcafe", verdict.Minor)), lone), called), Wait, ""},
		{"held, and a nit", also(opinions(heldBy(entry("0badcafe", verdict.Nit)), lone), called), Lift, ""},
		{"held, and a late minor that passes", also(opinions(heldBy(verdict.Entry{ID: "1", Status: verdict.Open, Severity: verdict.Minor,
			Late: true, Tolerated: true}), lone), called), Lift, ""},
		{"held, and doubted", also(opinions(func() Opinion { o := heldBy(); o.Record.Settled = false; return o }(), lone), called), Wait, ""},
		{"held, and edited", also(opinions(func() Opinion { o := heldBy(); o.Edited = true; return o }(), lone), called), Wait, ""},
		{"held, and a finding, which is waived",
			also(also(opinions(heldBy(entry("0badcafe", verdict.Major)), lone), called), orders(ordered(verdict.Waive, "mona", 1))), Lift, ""},
		{"lifted, and the word taken back", opinions(by("mona", head, "DISMISSED"), lifted(verdict.Word{By: "mona"})), Escalate,
			"only a person may let it pass"},
		{"taken back, and called", also(opinions(by("mona", head, "DISMISSED"), lifted(verdict.Word{By: "mona"})), called), Wait,
			"waits for a person"},
		{"taken back, and another one approves",
			also(opinions(by("mona", head, "DISMISSED"), lifted(verdict.Word{By: "mona"}), by("hubot", head, "APPROVED")), called), Lift, ""},
		{"lifted, and called again at another time", also(opinions(heldBy(), lone), func(s *State) { s.Failed, s.RetryIn = Lift, time.Minute }),
			Wait, "next one is delayed"},
		{"lifted already", opinions(heldBy(), lone, lifted(verdict.Word{By: "mona", At: lone.At})), Wait, "is reviewed"},

		{"found", opinions(found(entry("0badcafe", verdict.Major))), Wait, "is reviewed"},
		{"waived", also(opinions(found(entry("0badcafe", verdict.Major))), orders(ordered(verdict.Waive, "mona", 1))), Lift, ""},
		{"one of two waived", also(opinions(found(entry("0badcafe", verdict.Major), entry("1", verdict.Minor))),
			orders(ordered(verdict.Waive, "mona", 1))), Wait, ""},
		{"another one waived", also(opinions(found(entry("1", verdict.Major))), orders(ordered(verdict.Waive, "mona", 1))), Wait, ""},
		{"disputed", also(opinions(found(entry("0badcafe", verdict.Major))), orders(ordered(verdict.Dispute, "octocat", 1))), Review,
			"a finding is disputed"},
		{"disputed before", also(opinions(found(entry("0badcafe", verdict.Major))), orders(ordered(verdict.Dispute, "octocat", -1))), Wait,
			"is reviewed"},
		{"what is not there, disputed", also(opinions(found(entry("1", verdict.Major))), orders(ordered(verdict.Dispute, "octocat", 1))), Wait,
			"is reviewed"},

		{"break-glass", also(opinions(found(entry("1", verdict.Critical))), orders(ordered(verdict.BreakGlass, "mona", 1))), Lift, ""},
		{"break-glass before", also(opinions(found(entry("1", verdict.Critical))), orders(ordered(verdict.BreakGlass, "mona", -1))),
			Wait, ""},
		{"over a hold", also(also(opinions(heldBy()), called), orders(ordered(verdict.BreakGlass, "mona", 1))), Lift, ""},
		{"over what nobody could review", also(called, orders(ordered(verdict.BreakGlass, "mona", 1))), Lift, ""},
		{"and nobody was called", orders(ordered(verdict.BreakGlass, "mona", 1)), Review, ""},
		{"over an approval", also(opinions(says("alice", head, verdict.Approve)), orders(ordered(verdict.BreakGlass, "mona", 1))), Wait,
			"is reviewed"},
	})
}

func TestOrdersMoveTheReviewer(t *testing.T) {
	orders := func(all ...verdict.Command) func(*State) {
		return func(s *State) { s.Orders, s.Opinions = all, []Opinion{says("alice", head, verdict.RequestChanges)} }
	}
	labelled := func(s *State) { s.NeedsHuman, s.LabelledAt = true, noon }
	also := func(first func(*State), then func(*State)) func(*State) { return func(s *State) { first(s); then(s) } }
	runNext(t, asks, []nextCase{
		{"review", orders(ordered(verdict.AskReview, "mona", 1)), Review, "mona asks for a review"},
		{"review, long ago", orders(ordered(verdict.AskReview, "mona", -1)), Wait, "is reviewed"},
		{"review by nobody asked", also(orders(ordered(verdict.AskReview, "mona", 1)), func(s *State) { s.Requested = false }), Review, ""},
		{"stop", orders(ordered(verdict.AskReview, "mona", 1), ordered(verdict.Stop, "octocat", 2)), Wait, "octocat has stopped"},
		{"stop and resume", orders(ordered(verdict.Stop, "octocat", 1), ordered(verdict.AskReview, "mona", 2),
			ordered(verdict.Resume, "octocat", 3)), Review, ""},
		{"stop and review", orders(ordered(verdict.Stop, "octocat", 1), ordered(verdict.AskReview, "mona", 2)), Wait, "has stopped"},
		{"resume what is labelled", also(orders(ordered(verdict.Resume, "mona", 1)), labelled), Release, "mona told the agents to continue"},
		{"review what is labelled", also(orders(ordered(verdict.AskReview, "mona", 1)), labelled), Release, ""},
		{"labelled since", also(orders(ordered(verdict.Resume, "mona", -1)), labelled), Wait, "waits for a person"},
		{"labelled at an unknown time", also(orders(ordered(verdict.Resume, "mona", 1)), func(s *State) { s.NeedsHuman = true }), Wait,
			"waits for a person"},
		{"rounds used up, then resumed", func(s *State) {
			s.Opinions, s.Orders = rounds(3), []verdict.Command{ordered(verdict.Resume, "mona", 1)}
		}, Review, ""},
	})
}

func TestAuthorHeedsHolds(t *testing.T) {
	opinions := func(all ...Opinion) func(*State) { return func(s *State) { s.Opinions = all } }
	also := func(first func(*State), then func(*State)) func(*State) { return func(s *State) { first(s); then(s) } }
	mona := verdict.Word{By: "mona", At: noon.Add(time.Minute)}
	glass := verdict.Word{By: "mona", At: noon.Add(1), BrokeGlass: true}
	approved := by("mona", head, "APPROVED")
	broke := func(s *State) { s.Orders = []verdict.Command{ordered(verdict.BreakGlass, "Mona", 1)} }
	runNext(t, ready, []nextCase{
		{"held", opinions(heldBy()), Wait, "one is being called"},
		{"held, and left to be fixed", also(opinions(heldBy()), func(s *State) { s.CalledAt = noon }), Fix, "requests changes"},
		{"held, and a person approves", opinions(heldBy(), approved), Wait, "about to approve"},
		{"held by one of two reviewers", opinions(says("bob", head, verdict.Approve), heldBy()), Wait, ""},
		{"lifted", opinions(heldBy(), approved, lifted(mona)), Merge, ""},
		{"lifted, and then dismissed", opinions(heldBy(), by("mona", head, "DISMISSED"), lifted(mona)), Wait, "one is being called"},
		{"lifted, and then taken back", opinions(approved, lifted(mona), by("mona", head, "CHANGES_REQUESTED")), Wait, "one is being called"},
		{"lifted on another one's word", opinions(by("hubot", head, "APPROVED"), lifted(mona)), Wait, "about to approve"},
		{"lifted on a word for an older head", opinions(by("mona", older, "APPROVED"), lifted(mona)), Wait, "one is being called"},
		{"approved, held and not lifted", opinions(func() Opinion { o := lifted(mona); o.Record.Lifted = nil; return o }(), approved), Wait,
			"about to approve"},
		{"break-glass", also(opinions(lifted(glass)), broke), Merge, ""},
		{"break-glass, and the comment is gone", opinions(lifted(glass)), Wait, "one is being called"},
		{"break-glass of another time", also(opinions(lifted(verdict.Word{By: "mona", At: noon, BrokeGlass: true})), broke), Wait, ""},
		{"waived, and about to be approved", also(opinions(found(entry("0badcafe", verdict.Major))),
			func(s *State) { s.Orders = []verdict.Command{ordered(verdict.Waive, "mona", 1)} }), Wait, "about to approve"},
		{"disputed", also(opinions(found(entry("0badcafe", verdict.Major))),
			func(s *State) { s.Orders = []verdict.Command{ordered(verdict.Dispute, "octocat", 1)} }), Wait, "about to judge it again"},
		{"disputed before, and judged", also(opinions(found(entry("0badcafe", verdict.Major))),
			func(s *State) { s.Orders = []verdict.Command{ordered(verdict.Dispute, "octocat", -1)} }), Fix, ""},
		{"stopped", func(s *State) { s.Orders = []verdict.Command{ordered(verdict.Stop, "mona", 1)} }, Wait, "mona has stopped"},
		{"resumed", func(s *State) {
			s.NeedsHuman, s.LabelledAt, s.Orders = true, noon, []verdict.Command{ordered(verdict.Resume, "mona", 1)}
		}, Release, ""},
		{"asked to fix what had too many rounds", func(s *State) {
			s.Opinions = append(rounds(2), says("alice", head, verdict.RequestChanges))
			s.Orders = []verdict.Command{ordered(verdict.AskFix, "mona", 1)}
		}, Fix, ""},
	})
}

// TestLiftCarriesTheWord checks that the record says who let the change pass.
func TestLiftCarriesTheWord(t *testing.T) {
	s := asks()
	s.Opinions = []Opinion{heldBy(entry("1", verdict.Nit)), by("mona", head, "APPROVED"), by("hubot", head, "APPROVED")}
	s.Opinions[0].Record.CostUSD, s.Opinions[0].Record.Round = 0.5, 3
	r := Next(s).Record
	if r.Verdict != verdict.Approve || len(r.Holds) != 1 || len(r.Ledger) != 1 || r.Round != 3 || r.CostUSD != 0 ||
		*r.Lifted != (verdict.Word{By: "mona", At: noon.Add(time.Minute)}) {
		t.Errorf("lifted by %+v", r)
	}
	s.Orders = []verdict.Command{ordered(verdict.BreakGlass, "root", 1)}
	if w := Next(s).Record.Lifted; *w != (verdict.Word{By: "root", At: noon.Add(1), Why: "because", BrokeGlass: true}) {
		t.Errorf("break-glass was ordered by %+v", w)
	}
	s = asks()
	s.Opinions, s.Orders = []Opinion{found(entry("0badcafe", verdict.Major))}, []verdict.Command{ordered(verdict.Waive, "mona", 1)}
	if r := Next(s).Record; r.Lifted != nil || r.Ledger[0].Status != verdict.Waived || r.Ledger[0].Said.By != "mona" {
		t.Errorf("waived by %+v", r)
	}
	s.CalledAt, s.Orders = noon, []verdict.Command{ordered(verdict.BreakGlass, "mona", 1)}
	s.Opinions[0].SHA, s.Opinions[0].Record.Head = older, older
	if r := Next(s).Record; r.Head != head || r.BaseBranch != "main" || len(r.Ledger) != 1 || !r.Lifted.BrokeGlass {
		t.Errorf("lifted without a review by %+v", r)
	}
}

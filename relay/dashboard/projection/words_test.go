package projection_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"touchstone/relay/dashboard/projection"
	"touchstone/relay/event"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// signed returns the status by which an agent announces a decision on the head aaa, minutes after the
// beginning.
func signed(minutes int, by, context string, s decide.Status) event.Event {
	e := happened(minutes, "status", "", 0, object{"sha": "aaa", "context": context, "state": s.Signal, "description": s.Text,
		"updated_at": began.Add(time.Duration(minutes) * time.Minute)})
	e.Sender = by
	return e
}

// The board gives the turn to whom the agents' decision waits for, even if the log alone would say otherwise.
func TestTheTurnIsTheOneThatTheAgentsDecided(t *testing.T) {
	requested, approved := record(verdict.RequestChanges, "aaa"), record(verdict.Approve, "aaa")
	requested.BaseBranch, approved.BaseBranch = "main", "main"
	at := began.Add(10 * time.Minute)
	changes := decide.Opinion{Review: 7, By: "judge", SHA: "aaa", State: "CHANGES_REQUESTED", Record: &requested, At: at}
	approval := decide.Opinion{Review: 7, By: "judge", SHA: "aaa", State: "APPROVED", Record: &approved, At: at}
	lowered := record(verdict.RequestChanges, "aaa")
	lowered.BaseBranch, lowered.Ledger, lowered.Holds = "main", nil, []verdict.Hold{{Kind: verdict.QualityBar}}
	hold := decide.Opinion{Review: 7, By: "judge", SHA: "aaa", State: "CHANGES_REQUESTED", Record: &lowered, At: at}
	kept := reviewed(10, 1, "submitted", "judge", "changes_requested", "aaa", body(lowered, verdict.Signer{}))
	stopped := []verdict.Command{{Verb: verdict.Stop, ID: 1, By: "mona", At: at}}
	objected := reviewed(10, 1, "submitted", "judge", "changes_requested", "aaa", body(requested, verdict.Signer{}))
	passed := reviewed(10, 1, "submitted", "judge", "approved", "aaa", body(approved, verdict.Signer{}))
	for name, c := range map[string]struct {
		role   decide.Role
		log    []event.Event // after it was opened
		change func(*decide.State)
		turn   verdict.Turn
		on     []string
	}{
		"a review runs":           {decide.Reviewer, nil, func(*decide.State) {}, verdict.TurnReviewer, []string{"judge"}},
		"a draft":                 {decide.Reviewer, nil, func(s *decide.State) { s.Draft = true }, verdict.TurnAuthor, []string{"alice"}},
		"stopped before a review": {decide.Reviewer, nil, func(s *decide.State) { s.Orders = stopped }, verdict.TurnPerson, []string{"mona"}},
		"reviewed again": {decide.Reviewer, []event.Event{objected}, func(s *decide.State) {
			s.Opinions = []decide.Opinion{changes}
			s.Orders = []verdict.Command{{Verb: verdict.AskReview, ID: 9, By: "mona", At: at.Add(time.Minute)}}
		}, verdict.TurnReviewer, []string{"judge"}},
		"no reviewer's agent runs": {decide.Author, nil, func(*decide.State) {}, verdict.TurnReviewer, []string{"judge"}},
		"a fix runs": {decide.Author, []event.Event{objected}, func(s *decide.State) { s.Opinions = []decide.Opinion{changes} },
			verdict.TurnAuthor, []string{"alice"}},
		"stopped before a fix": {decide.Author, []event.Event{objected}, func(s *decide.State) {
			s.Opinions, s.Orders = []decide.Opinion{changes}, stopped
		}, verdict.TurnPerson, []string{"mona"}},
		"held, and nobody is asked": {decide.Author, []event.Event{kept}, func(s *decide.State) {
			s.Opinions = []decide.Opinion{hold}
		}, verdict.TurnPerson, nil},
		"held, and code owners are asked": {decide.Author, []event.Event{kept}, func(s *decide.State) {
			s.Opinions, s.Asking = []decide.Opinion{hold}, []string{"walter"}
		}, verdict.TurnPerson, []string{"walter"}},
		"checks that the log does not tell of": {decide.Author, []event.Event{passed}, func(s *decide.State) {
			s.Opinions, s.Checks = []decide.Opinion{approval}, decide.ChecksPending
		}, verdict.TurnCI, nil},
		"merged by hand": {decide.Author, []event.Event{passed}, func(s *decide.State) {
			s.Opinions, s.Manual = []decide.Opinion{approval}, decide.Left{Topic: "auto", Why: "merge.auto is off"}
		}, verdict.TurnAuthor, []string{"alice"}},
		"a label holds it": {decide.Author, []event.Event{passed}, func(s *decide.State) {
			s.Opinions, s.HoldLabel = []decide.Opinion{approval}, "stay"
		}, verdict.TurnPerson, []string{"alice"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := decide.State{
				Role: c.role, Self: "judge", Open: true, Author: "alice", Head: "aaa", BaseBranch: "main", Requested: true,
				Reviewers: []string{"judge"}, Mergeable: decide.MergeableClean, Checks: decide.ChecksGreen, MaxRounds: 9, MaxAttempts: 3,
				Now: began.Add(time.Hour), History: decide.History{SeenAt: began},
			}
			context := "touchstone/review"
			if c.role == decide.Author {
				s.Self, context = "alice", "touchstone/fix"
			}
			c.change(&s)
			action := decide.Next(s)
			if action.Turn != c.turn {
				t.Fatalf("it is decided that it is the turn of %s: %s, %s", action.Turn, action.Kind, action.Reason)
			}
			l := newLog(t)
			l.append(opened(1, "aaa"))
			l.append(c.log...)
			l.append(signed(20, s.Self, context, action.Status))
			if got := one(t, l.project(l.file(), "judge")); got.Turn != c.turn || !slices.Equal(got.WaitingOn, c.on) ||
				got.Reason != action.Status.Text {
				t.Errorf("%q is shown as the turn of %s, %q: %s", action.Status.Text, got.Turn, got.WaitingOn, got.Reason)
			}
		})
	}
}

// The author's agent may answer a review before the reviewer's agent has written the verdict into its status.
// But an answer that is older than the reviewer's word on who is awaited does not count.
func TestTheAnswerToAReviewCountsAlthoughTheVerdictsStatusComesLater(t *testing.T) {
	requested, approved := record(verdict.RequestChanges, "aaa"), record(verdict.Approve, "aaa")
	objected := reviewed(10, 1, "submitted", "judge", "changes_requested", "aaa", body(requested, verdict.Signer{}))
	passed := reviewed(10, 1, "submitted", "judge", "approved", "aaa", body(approved, verdict.Signer{}))
	drafted := happened(15, "pull_request", "converted_to_draft", 1, object{"pull_request": pull(15, 1, "aaa", object{"draft": true})})
	status := func(signal decide.Signal, text string) decide.Status {
		return decide.Status{Signal: signal, Text: text}
	}
	approval := status(decide.Success, "approved, round 1")
	for name, c := range map[string]struct {
		log    []event.Event // after it was opened
		answer decide.Status
		late   decide.Status
		turn   verdict.Turn
		reason string
	}{
		"a fix runs": {[]event.Event{objected}, status(decide.Pending, "fixing, round 1: the review requests changes"),
			status(decide.Failure, "changes requested, round 1: 1 major"), verdict.TurnAuthor, "fixing, round 1: the review requests changes"},
		"CI runs": {[]event.Event{passed}, status(decide.Pending, "waiting for CI: checks are running"), approval, verdict.TurnCI,
			"waiting for CI: checks are running"},
		"a label holds it": {[]event.Event{passed}, status(decide.Pending, "waiting for @mona: it is held"), approval, verdict.TurnPerson,
			"waiting for @mona: it is held"},
		"it became a draft": {[]event.Event{passed, drafted}, status(decide.Pending, "waiting for CI: checks are running"),
			status(decide.Pending, "waiting for @alice: it is a draft"), verdict.TurnAuthor, "waiting for @alice: it is a draft"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLog(t)
			l.append(opened(1, "aaa"))
			l.append(c.log...)
			l.append(signed(11, "alice", "touchstone/fix", c.answer), signed(16, "judge", "touchstone/review", c.late))
			if got := one(t, l.project(l.file(), "judge")); got.Turn != c.turn || got.Reason != c.reason {
				t.Errorf("it is shown as the turn of %s: %s", got.Turn, got.Reason)
			}
		})
	}
}

// GitHub's times are whole seconds, and its events can come in another order than they happened.
func TestTheLastStatusOfASecondCounts(t *testing.T) {
	l := newLog(t)
	l.append(opened(1, "aaa"))
	for _, id := range []int{2, 3, 1} {
		e := happened(20, "status", "", 0, object{"id": id, "sha": "aaa", "context": "touchstone/review", "state": "pending",
			"description": fmt.Sprintf("reviewing, round %d", id), "updated_at": began.Add(20 * time.Minute)})
		e.Sender = "judge"
		l.append(e)
	}
	if got := one(t, l.project(l.file(), "judge")); got.Reason != "reviewing, round 3" {
		t.Errorf("it shows %q", got.Reason)
	}
}

// A relay that was away, or whose clock is fast, hears of a head after the agents have dealt with it.
func TestTheAgentsWordCountsAlthoughTheRelayHearsOfTheHeadLater(t *testing.T) {
	l := newLog(t)
	l.append(happened(30, "pull_request", "opened", 1, object{"pull_request": pull(0, 1, "aaa", nil)}),
		signed(20, "judge", "touchstone/review", decide.Status{Signal: decide.Pending, Text: "waiting for @mona: it is stopped"}))
	if got := one(t, l.project(l.file(), "judge")); got.Turn != verdict.TurnPerson || got.Reason != "waiting for @mona: it is stopped" {
		t.Errorf("it is shown as the turn of %s: %s", got.Turn, got.Reason)
	}
}

func TestASentenceNamesACommitAsItIs(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "it is a draft": "It is a draft.", "c9ea659 was approved by judge.": "c9ea659 was approved by judge.", "added it": "Added it.",
	} {
		if got := projection.Sentence(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

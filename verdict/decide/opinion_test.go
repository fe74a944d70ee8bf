package decide

import (
	"strings"
	"testing"
	"time"

	"touchstone/verdict"
)

// session is what a reviewer says after a session of a round.
func session(round int, v verdict.Verdict) Opinion {
	o := says("alice", head, v)
	o.Record.Round, o.Record.Engine = round, "claude"
	return o
}

// TestTheWeightierOfTwoAtOnceCounts: two machines of one login can have judged the same
// head in the same round, neither knowing of the other.
func TestTheWeightierOfTwoAtOnceCounts(t *testing.T) {
	lifted := session(1, verdict.Approve)
	lifted.Record.Engine = ""
	again := session(1, verdict.Approve)
	again.Record.Engine, again.Record.Lifted = "", &verdict.Word{By: "bob", At: time.Unix(1, 0)}
	for name, test := range map[string]struct {
		opinions []Opinion
		want     Kind
	}{
		"an approval last":                  {[]Opinion{session(1, verdict.RequestChanges), session(1, verdict.Approve)}, Fix},
		"an approval first":                 {[]Opinion{session(1, verdict.Approve), session(1, verdict.RequestChanges)}, Fix},
		"twice approved":                    {[]Opinion{session(1, verdict.Approve), session(1, verdict.Approve)}, Merge},
		"approved in a later round":         {[]Opinion{session(1, verdict.RequestChanges), session(2, verdict.Approve)}, Merge},
		"approved later without a session":  {[]Opinion{session(1, verdict.RequestChanges), lifted}, Merge},
		"the weightier one was withdrawn":   {[]Opinion{withdrawn(session(1, verdict.RequestChanges)), session(1, verdict.Approve)}, Merge},
		"the approval was withdrawn by one": {[]Opinion{session(1, verdict.RequestChanges), withdrawn(session(1, verdict.Approve))}, Fix},
		"one of two alike was withdrawn":    {[]Opinion{session(1, verdict.RequestChanges), withdrawn(session(1, verdict.RequestChanges))}, Fix},
		"dismissed after an approval":       {[]Opinion{session(1, verdict.Approve), withdrawn(session(2, verdict.RequestChanges))}, Wait},
		"one of two lifts was withdrawn":    {[]Opinion{session(1, verdict.RequestChanges), lifted, withdrawn(lifted)}, Merge},
		"a lift on a later word, dismissed": {[]Opinion{session(1, verdict.RequestChanges), lifted, withdrawn(again)}, Wait},
		"dismissed beside an approval":      {[]Opinion{session(1, verdict.Approve), withdrawn(session(1, verdict.RequestChanges))}, Wait},
		"dismissed, and approved again": {[]Opinion{session(1, verdict.Approve), withdrawn(session(2, verdict.RequestChanges)),
			session(3, verdict.Approve)}, Merge},
	} {
		t.Run(name, func(t *testing.T) {
			s := ready()
			s.Opinions = test.opinions
			if got := Next(s); got.Kind != test.want {
				t.Errorf("got %s because %q; want %s", got.Kind, got.Reason, test.want)
			}
		})
	}
}

func withdrawn(o Opinion) Opinion {
	o.State = dismissed
	return o
}

// TestADismissedReviewIsNotReplacedByAnEarlierOne checks that a reviewer whose review was dismissed waits for
// a request, and then reviews again.
func TestADismissedReviewIsNotReplacedByAnEarlierOne(t *testing.T) {
	s := asks()
	s.Opinions = []Opinion{session(1, verdict.Approve), withdrawn(session(2, verdict.RequestChanges))}
	s.Asked = false
	if got := Next(s); got.Kind != Wait || !strings.Contains(got.Reason, "dismissed") {
		t.Errorf("got %s because %q", got.Kind, got.Reason)
	}
	s.Asked = true
	if got := Next(s); got.Kind != Review {
		t.Errorf("asked again, got %s because %q", got.Kind, got.Reason)
	}
	s = ready()
	s.Opinions = append(s.Opinions, Opinion{By: "bob", State: "CHANGES_REQUESTED"}, Opinion{By: "bob", State: dismissed})
	if got := Next(s); got.Kind != Wait || !strings.Contains(got.Reason, "bob still requests changes") {
		t.Errorf("with one of two requests dismissed: %s because %q", got.Kind, got.Reason)
	}
}

// TestAnEditedObjectionCallsAPerson checks that nobody waits for a reviewer's agent to withdraw an objection
// that it cannot recognise as its own.
func TestAnEditedObjectionCallsAPerson(t *testing.T) {
	edited := Opinion{By: "alice", SHA: older, State: "CHANGES_REQUESTED", Edited: true, CanPush: true}
	doubtful := edited
	doubtful.Edited, doubtful.Doubt = false, "its record cannot be read"
	ofThisHead := edited
	ofThisHead.SHA = head
	clear := Opinion{By: "mona", SHA: older, State: "CHANGES_REQUESTED", CanPush: true}
	for name, tc := range map[string]struct {
		before []Opinion
		want   Kind
		reason string
	}{
		"edited":                        {[]Opinion{edited}, Escalate, "alice requested changes of 0ddba11 in a review that was edited since"},
		"not believed":                  {[]Opinion{doubtful}, Escalate, "dismiss that review"},
		"edited, of this very head":     {[]Opinion{ofThisHead}, Escalate, "dismiss that review"},
		"dismissed":                     {[]Opinion{withdrawn(edited)}, Merge, ""},
		"beside one that is no agent's": {[]Opinion{edited, clear}, Wait, "mona still requests changes"},
	} {
		s := ready()
		s.Opinions = append(tc.before, s.Opinions...)
		if got := Next(s); got.Kind != tc.want || !strings.Contains(got.Reason, tc.reason) {
			t.Errorf("%s: %s because %q; want %s because %q", name, got.Kind, got.Reason, tc.want, tc.reason)
		}
	}
}

// TestDeletedAccountsAreNotOnePerson checks that one deleted account's approval does not settle another one's
// objection.
func TestDeletedAccountsAreNotOnePerson(t *testing.T) {
	s := ready()
	s.Opinions = append(s.Opinions, Opinion{By: "ghost", State: "CHANGES_REQUESTED"}, Opinion{By: "ghost", State: "APPROVED"})
	if got := Next(s); got.Kind != Wait || !strings.Contains(got.Reason, "ghost still requests changes") {
		t.Errorf("got %s because %q", got.Kind, got.Reason)
	}
}

func TestAFixAnswersTheWordThatCounts(t *testing.T) {
	other := session(1, verdict.RequestChanges)
	other.By = "bob"
	for name, test := range map[string]struct {
		opinions []Opinion
		want     int
	}{
		"nothing":                     {nil, -1},
		"approved since":              {[]Opinion{session(1, verdict.RequestChanges), session(2, verdict.Approve)}, -1},
		"two at once":                 {[]Opinion{session(1, verdict.RequestChanges), session(1, verdict.Approve)}, 0},
		"objected to again":           {[]Opinion{session(1, verdict.RequestChanges), session(2, verdict.RequestChanges)}, 1},
		"dismissed":                   {[]Opinion{session(1, verdict.RequestChanges), withdrawn(session(2, verdict.RequestChanges))}, -1},
		"the newest of two reviewers": {[]Opinion{session(1, verdict.RequestChanges), other}, 1},
		"one of them approves":        {[]Opinion{session(1, verdict.Approve), other, session(2, verdict.Approve)}, 1},
	} {
		s := ready()
		s.Reviewers, s.Opinions = []string{"alice", "bob"}, test.opinions
		if got, ok := s.Objection(); got != test.want || ok != (test.want >= 0) {
			t.Errorf("%s: %d, %v, want %d", name, got, ok, test.want)
		}
	}
}

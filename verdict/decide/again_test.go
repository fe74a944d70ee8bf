package decide

import (
	"testing"
	"time"

	"touchstone/verdict"
)

// TestAReviewIsGivenAnewBeforeItIsFixed checks that the reviewer judges what people do to an unchanged head
// before anybody works on the review's findings; the author's side waits for that, even during a fix.
func TestAReviewIsGivenAnewBeforeItIsFixed(t *testing.T) {
	t.Parallel()
	change := map[string]func(*State){
		"a person had the agents go on": func(s *State) {
			s.CalledAt = noon.Add(time.Minute)
			s.Orders = []verdict.Command{{ID: 7, Verb: verdict.Resume, By: "mona", At: noon.Add(2 * time.Minute)}}
		},
		"a review was ordered": func(s *State) {
			s.Orders = []verdict.Command{{ID: 7, Verb: verdict.AskReview, By: "mona", At: noon.Add(time.Minute)}}
		},
		"a finding was disputed": func(s *State) {
			s.Orders = []verdict.Command{{ID: 7, Verb: verdict.Dispute, Finding: "facade00", By: "mona", At: noon.Add(time.Minute)}}
		},
		"the description was edited, which a finding is about": func(s *State) { s.Opinions[0].Restated = true },
	}
	same := map[string]func(*State){
		"nothing happened": func(*State) {},
		"the description was edited, which no finding is about": func(s *State) {
			s.Opinions[0].Restated, s.Opinions[0].Record.Ledger[0].Path = true, "a.go"
		},
		"a person took the label off":           func(s *State) { s.CalledAt = noon.Add(time.Minute) },
		"a person was called before the review": func(s *State) { s.CalledAt = noon.Add(-time.Minute) },
		"a person left what was held to be fixed": func(s *State) {
			s.CalledAt, s.Opinions[0].Record.Holds = noon.Add(time.Minute), []verdict.Hold{{Kind: verdict.QualityBar}}
		},
		"the agents go on after a stop": func(s *State) {
			s.Orders = []verdict.Command{{ID: 7, Verb: verdict.Resume, By: "mona", At: noon.Add(time.Minute)}}
		},
	}
	for _, tt := range []struct {
		cases            map[string]func(*State)
		reviewer, author Kind
	}{{change, Review, Wait}, {same, Wait, Fix}} {
		for name, change := range tt.cases {
			for _, s := range []State{asks(), ready()} {
				s.Opinions = []Opinion{says("alice", head, verdict.RequestChanges)}
				change(&s)
				want := map[Role]Kind{Reviewer: tt.reviewer, Author: tt.author}[s.Role]
				if got := Next(s); got.Kind != want {
					t.Errorf("%s: the %s's agent has to %s because %q, want %s", name, s.Role, got.Kind, got.Reason, want)
				}
			}
		}
	}
}

package decide_test

import (
	"fmt"

	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// A record approves a head; the head moves. What was approved is not what
// would be merged, so the author waits for the next review.
func ExampleNext() {
	s := decide.State{
		Role: decide.Author, Self: "octocat", Author: "octocat", Open: true, Head: "4f1c0de",
		Mergeable: decide.MergeableClean, Checks: decide.ChecksGreen, Reviewers: []string{"alice"},
		Opinions: []decide.Opinion{{
			By: "alice", SHA: "4f1c0de", State: "APPROVED",
			Record: &verdict.Record{Verdict: verdict.Approve, Head: "4f1c0de"},
		}},
	}
	fmt.Println(decide.Next(s).Kind)
	s.Head = "0ddba11"
	fmt.Println(decide.Next(s).Kind)
	// Output:
	// merge
	// wait
}

package main

import (
	"testing"

	"touchstone/agent/forge"
	"touchstone/agent/worker"
	"touchstone/verdict/decide"
)

func TestOutcomeOfAMergeIsASentence(t *testing.T) {
	t.Parallel()
	step := worker.Step{
		PR:     forge.PullRequest{Ref: forge.Ref{Repo: forge.Repo{Owner: "acme", Name: "app"}, Number: 12}, Base: forge.Branch{Name: "main"}},
		Action: decide.Action{SHA: "0123456789"},
	}
	if got, want := merged(step), "acme/app#12: put into the merge queue of main at 0123456"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	step.Head = "abcdef0123"
	if got, want := merged(step), "acme/app#12: merged 0123456 as abcdef0"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
}

package daemon

import (
	"context"
	"fmt"

	"touchstone/agent/forge"
	"touchstone/agent/merger"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// remembered reads facts once, and answers the same question from memory after that. One serves one attempt to merge.
type remembered struct {
	read    Knowledge
	answers map[string]any
	// asked says that a question took a request.
	asked bool
}

type answer[T any] struct {
	value T
	err   error
}

func recall[T any](r *remembered, question string, read func() (T, error)) (T, error) {
	if known, ok := r.answers[question].(answer[T]); ok {
		return known.value, known.err
	}
	r.asked = true
	value, err := read()
	r.answers[question] = answer[T]{value, err}
	return value, err
}

func (r *remembered) Permission(ctx context.Context, repo forge.Repo, login string) (forge.Permission, error) {
	return recall(r, fmt.Sprint("permission ", repo, " ", login),
		func() (forge.Permission, error) { return r.read.Permission(ctx, repo, login) })
}

func (r *remembered) Revisions(ctx context.Context, repo forge.Repo, node string) ([]forge.Revision, error) {
	return recall(r, fmt.Sprint("revisions ", node), func() ([]forge.Revision, error) { return r.read.Revisions(ctx, repo, node) })
}

func (r *remembered) Contains(ctx context.Context, repo forge.Repo, descendant, ancestor string) (bool, error) {
	return recall(r, fmt.Sprint("contains ", repo, " ", descendant, " ", ancestor),
		func() (bool, error) { return r.read.Contains(ctx, repo, descendant, ancestor) })
}

func (r *remembered) File(ctx context.Context, repo forge.Repo, rev, path string) ([]byte, error) {
	return recall(r, fmt.Sprint("file ", repo, " ", rev, " ", path), func() ([]byte, error) { return r.read.File(ctx, repo, rev, path) })
}

func (r *remembered) ChangedPaths(ctx context.Context, ref forge.Ref) ([]string, error) {
	return recall(r, fmt.Sprint("paths ", ref), func() ([]string, error) { return r.read.ChangedPaths(ctx, ref) })
}

func (r *remembered) Commits(ctx context.Context, ref forge.Ref) ([]forge.Commit, error) {
	return recall(r, fmt.Sprint("commits ", ref), func() ([]forge.Commit, error) { return r.read.Commits(ctx, ref) })
}

func (r *remembered) Writers(ctx context.Context, pr forge.PullRequest) ([]string, error) {
	return recall(r, fmt.Sprint("writers ", pr.Ref, " ", pr.Head.SHA, " ", len(pr.HeadForced)),
		func() ([]string, error) { return r.read.Writers(ctx, pr) })
}

func (r *remembered) ChecksOf(ctx context.Context, repo forge.Repo, sha string) ([]forge.Check, error) {
	return recall(r, fmt.Sprint("checks ", repo, " ", sha), func() ([]forge.Check, error) { return r.read.ChecksOf(ctx, repo, sha) })
}

func (r *remembered) BaseChecks(ctx context.Context, repo forge.Repo, sha string) (forge.BaseChecks, error) {
	return recall(r, fmt.Sprint("base checks ", repo, " ", sha), func() (forge.BaseChecks, error) { return r.read.BaseChecks(ctx, repo, sha) })
}

func (r *remembered) Makes(ctx context.Context, pr forge.PullRequest, reviewed verdict.Record) (bool, error) {
	question := fmt.Sprint("makes ", pr.Ref, " ", pr.Head.SHA, " ", pr.Base.SHA, " ", reviewed.Base, " ", reviewed.Tree)
	return recall(r, question, func() (bool, error) { return r.read.Makes(ctx, pr, reviewed) })
}

// Decider makes the decisions of one attempt to merge. What they take besides the pull request is read once: what
// depends on a head or a base is asked for by its commit, and so is read again when that changes.
func (a *Agent) Decider() merger.Decide {
	facts := &remembered{read: knowledge{a.Read, a}, answers: map[string]any{}}
	return func(ctx context.Context, pr forge.PullRequest) (action decide.Action, settled bool, err error) {
		facts.asked = false
		_, action, err = a.decide(ctx, facts, pr, nil)
		return action, !facts.asked, err
	}
}

package pull

import (
	"context"
	"fmt"

	"touchstone/agent/forge"
	"touchstone/verdict"
)

// Remembered reads facts once and then answers the same question from memory. Each attempt to merge uses its
// own.
type Remembered struct {
	// Read is asked once per question; Answers are its answers, by question.
	Read    Knowledge
	Answers map[string]any
	// Asked says that a question needed a request.
	Asked bool
}

type answer[T any] struct {
	value T
	err   error
}

func recall[T any](r *Remembered, question string, read func() (T, error)) (T, error) {
	if known, ok := r.Answers[question].(answer[T]); ok {
		return known.value, known.err
	}
	r.Asked = true
	value, err := read()
	r.Answers[question] = answer[T]{value, err}
	return value, err
}

func (r *Remembered) Permission(ctx context.Context, repo forge.Repo, login string) (forge.Permission, error) {
	return recall(r, fmt.Sprint("permission ", repo, " ", login),
		func() (forge.Permission, error) { return r.Read.Permission(ctx, repo, login) })
}

func (r *Remembered) Revisions(ctx context.Context, repo forge.Repo, node string) ([]forge.Revision, error) {
	return recall(r, fmt.Sprint("revisions ", node), func() ([]forge.Revision, error) { return r.Read.Revisions(ctx, repo, node) })
}

func (r *Remembered) Contains(ctx context.Context, repo forge.Repo, descendant, ancestor string) (bool, error) {
	return recall(r, fmt.Sprint("contains ", repo, " ", descendant, " ", ancestor),
		func() (bool, error) { return r.Read.Contains(ctx, repo, descendant, ancestor) })
}

func (r *Remembered) File(ctx context.Context, repo forge.Repo, rev, path string) ([]byte, error) {
	return recall(r, fmt.Sprint("file ", repo, " ", rev, " ", path), func() ([]byte, error) { return r.Read.File(ctx, repo, rev, path) })
}

func (r *Remembered) Files(ctx context.Context, repo forge.Repo, rev, dir string) ([]string, error) {
	return recall(r, fmt.Sprint("files ", repo, " ", rev, " ", dir), func() ([]string, error) { return r.Read.Files(ctx, repo, rev, dir) })
}

func (r *Remembered) ChangedPaths(ctx context.Context, ref forge.Ref) ([]string, error) {
	return recall(r, fmt.Sprint("paths ", ref), func() ([]string, error) { return r.Read.ChangedPaths(ctx, ref) })
}

func (r *Remembered) Commits(ctx context.Context, ref forge.Ref) ([]forge.Commit, error) {
	return recall(r, fmt.Sprint("commits ", ref), func() ([]forge.Commit, error) { return r.Read.Commits(ctx, ref) })
}

func (r *Remembered) Writers(ctx context.Context, pr forge.PullRequest) ([]string, error) {
	return recall(r, fmt.Sprint("writers ", pr.Ref, " ", pr.Head.SHA, " ", len(pr.HeadForced)),
		func() ([]string, error) { return r.Read.Writers(ctx, pr) })
}

func (r *Remembered) ChecksOf(ctx context.Context, repo forge.Repo, sha string) ([]forge.Check, error) {
	return recall(r, fmt.Sprint("checks ", repo, " ", sha), func() ([]forge.Check, error) { return r.Read.ChecksOf(ctx, repo, sha) })
}

func (r *Remembered) BaseChecks(ctx context.Context, repo forge.Repo, sha string) (forge.BaseChecks, error) {
	return recall(r, fmt.Sprint("base checks ", repo, " ", sha), func() (forge.BaseChecks, error) { return r.Read.BaseChecks(ctx, repo, sha) })
}

func (r *Remembered) RequiredChecks(ctx context.Context, repo forge.Repo, branch string) ([]string, error) {
	return recall(r, fmt.Sprint("required checks ", repo, " ", branch),
		func() ([]string, error) { return r.Read.RequiredChecks(ctx, repo, branch) })
}

// StatusHistory asks again if anything was reported since.
func (r *Remembered) StatusHistory(ctx context.Context, pr forge.PullRequest) ([]forge.Check, error) {
	return recall(r, fmt.Sprint("statuses ", pr.Ref, " ", pr.Head.SHA, " ", pr.Checks),
		func() ([]forge.Check, error) { return r.Read.StatusHistory(ctx, pr) })
}

func (r *Remembered) Makes(ctx context.Context, pr forge.PullRequest, reviewed verdict.Record) (bool, error) {
	question := fmt.Sprint("makes ", pr.Ref, " ", pr.Head.SHA, " ", pr.Base.SHA, " ", reviewed.Base, " ", reviewed.Tree)
	return recall(r, question, func() (bool, error) { return r.Read.Makes(ctx, pr, reviewed) })
}

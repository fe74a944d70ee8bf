// Package reviewer owns one review of one head: it gathers the change and the
// rules, has a model walk the nine dimensions in one session, judges the answer
// and posts the result. It stores nothing; what it learns goes into the posted
// review's record.
package reviewer

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"touchstone/agent/engine"
	"touchstone/agent/forge"
	"touchstone/guidelines"
	"touchstone/verdict"
	"touchstone/worktree"
)

// guidelineDir holds a repository's own documents, on the base branch.
const guidelineDir = ".touchstone/guidelines"

// Poster posts a review. It is the one act of this package that cannot be
// taken back.
type Poster interface {
	PostReview(ctx context.Context, ref forge.Ref, r forge.Review) (forge.Posted, error)
}

// Reader reads a pull request's present state.
type Reader interface {
	PullRequest(ctx context.Context, ref forge.Ref) (forge.PullRequest, error)
}

// Reviewer reviews pull requests with one engine and one set of guidelines.
// Its fields are set once; its methods may be called from several goroutines
// at once.
type Reviewer struct {
	Worktrees  *worktree.Store
	Engine     engine.Engine
	Guidelines guidelines.Set
	Read       Reader
	Post       Poster
	// Remote gives the clone URL and the Authorization header for git.
	Remote func(forge.Repo) (url, authorization string)
	// Model is the engine's name of a model, empty for its default.
	Model string
	// Timeout and IdleTimeout bound the session; zero leaves them to the engine.
	Timeout     time.Duration
	IdleTimeout time.Duration
	// Scratch is a directory for the files that a session reads besides the
	// worktree. What a review puts there is removed at its end.
	Scratch string
}

// Outcome is a finished review.
type Outcome struct {
	Judgement verdict.Judgement
	Record    verdict.Record
	// Review is what was, or with a dry run would have been, posted.
	Review forge.Review
	// URL is where the posted review can be seen; empty after a dry run.
	URL string
	// Started is when the model's process started.
	Started time.Time
}

// ErrOvertaken says that the head moved, or was reviewed by this login
// elsewhere, before the review could be posted. Nothing was posted.
var ErrOvertaken = errors.New("the pull request moved on while it was reviewed")

// ErrRules says that the repository's own guidelines cannot be read. A review
// without them would judge by the wrong law.
var ErrRules = errors.New("the repository's guidelines on its base branch are broken; mend them there")

// Options vary one review.
type Options struct {
	// DryRun judges without posting.
	DryRun bool
	// Progress hears of the session as it goes.
	Progress func(engine.Progress)
}

// Review reviews the head of pr as it was read. An *engine.Error means that the
// session did not finish: there is no verdict and nothing was posted.
func (r *Reviewer) Review(ctx context.Context, pr forge.PullRequest, opts Options) (Outcome, error) {
	url, authorization := r.Remote(pr.Ref.Repo)
	tree, err := r.Worktrees.Acquire(ctx, worktree.Request{
		Remote: worktree.Remote{URL: url, Authorization: authorization},
		Repo:   pr.Ref.Repo.String(), Number: pr.Ref.Number, Role: string(verdict.Reviewer),
		Head: pr.Head.SHA, HeadRef: fmt.Sprintf("refs/pull/%d/head", pr.Ref.Number),
		Base: pr.Base.SHA, BaseRef: "refs/heads/" + pr.Base.Name,
	})
	if err != nil {
		return Outcome{}, fmt.Errorf("prepare the worktree: %w", err)
	}
	defer tree.Release()

	diff, err := tree.Diff(ctx)
	if err != nil {
		return Outcome{}, fmt.Errorf("read the change: %w", err)
	}
	rules, err := r.rules(ctx, tree, pr.Base.SHA)
	if err != nil {
		return Outcome{}, err
	}
	scratch, err := os.MkdirTemp(r.Scratch, "review-")
	if err != nil {
		return Outcome{}, fmt.Errorf("make a scratch directory: %w", err)
	}
	defer os.RemoveAll(scratch)
	patches, err := writePatches(scratch, diff)
	if err != nil {
		return Outcome{}, err
	}
	commits, err := tree.Log(ctx)
	if err != nil {
		return Outcome{}, err
	}
	ledger, round := history(pr)
	change := ChangeOf(pr, diff, commits, round)
	b := brief{
		rules: rules.RenderFor(change), title: pr.Title, body: pr.Body, commits: commits, ref: pr.Ref.String(), head: pr.Head.SHA, base: diff.Base,
		round: round, files: diff.Files, patches: patches, ledger: ledger, nonce: rand.Text(), fence: "untrusted-" + rand.Text(),
	}
	result, err := engine.Run(ctx, r.Engine, engine.Request{
		Role: engine.Reviewer, Dir: tree.Dir(), ReadDirs: []string{scratch}, Instructions: guidelines.ReviewerInstructions(),
		Model: r.Model, Timeout: r.Timeout, IdleTimeout: r.IdleTimeout, Progress: opts.Progress,
	}, b.prompt())
	if err != nil {
		return Outcome{Started: result.Started}, err
	}
	out := Outcome{Started: result.Started, Judgement: verdict.Judge(result.Text, b.nonce, grounds(ctx, tree, pr, diff, rules.For(change), ledger))}
	if diff.Truncated {
		out.Judgement.Withhold("The change is larger than what can be shown to the session; part of it was not examined.")
	}
	out.Record = record(pr, rules.Version(), r.Engine.Name(), round, ledger.After(round, out.Judgement), out.Judgement.Verdict, result)
	if out.Review, err = report(out.Judgement, out.Record, diff, true); err != nil || opts.DryRun {
		return out, err
	}
	return out, r.post(ctx, pr, diff, &out)
}

// post posts the review unless the pull request moved on meanwhile. When GitHub
// does not like one of the comments, all of them move into the body.
func (r *Reviewer) post(ctx context.Context, pr forge.PullRequest, diff worktree.Diff, out *Outcome) error {
	now, err := r.Read.PullRequest(ctx, pr.Ref)
	if err != nil {
		return fmt.Errorf("look at the pull request again before posting: %w", err)
	}
	if _, _, reviewed := Standing(now); reviewed || !now.Open || now.Head.SHA != pr.Head.SHA || now.Base.Name != pr.Base.Name {
		return ErrOvertaken
	}
	posted, err := r.Post.PostReview(ctx, pr.Ref, out.Review)
	if errors.Is(err, forge.ErrBadAnchor) {
		if out.Review, err = report(out.Judgement, out.Record, diff, false); err != nil {
			return err
		}
		posted, err = r.Post.PostReview(ctx, pr.Ref, out.Review)
	}
	if err != nil {
		return fmt.Errorf("post the review: %w", err)
	}
	out.URL = posted.URL
	return nil
}

// rules are the embedded guidelines under the repository's own, the latter read
// from the base, so that no change can weaken the rules it is judged by.
func (r *Reviewer) rules(ctx context.Context, tree *worktree.Tree, base string) (guidelines.Set, error) {
	names, err := tree.ReadDir(ctx, base, guidelineDir)
	if errors.Is(err, fs.ErrNotExist) {
		return r.Guidelines, nil
	}
	if err != nil {
		return guidelines.Set{}, fmt.Errorf("list the repository's guidelines: %w", err)
	}
	var own []guidelines.Document
	for _, name := range names {
		if path.Ext(name) != ".md" {
			continue
		}
		text, err := tree.ReadFile(ctx, base, path.Join(guidelineDir, name))
		if err != nil {
			return guidelines.Set{}, fmt.Errorf("read the repository's guideline %s: %w", name, err)
		}
		doc, err := guidelines.Parse(strings.TrimSuffix(name, ".md"), string(text))
		if err != nil {
			return guidelines.Set{}, fmt.Errorf("%w: %w", ErrRules, err)
		}
		own = append(own, doc)
	}
	return r.Guidelines.Overlay(own...), nil
}

// ChangeOf is a pull request's change as the scopes of the rules are decided on it,
// in its round-th review.
func ChangeOf(pr forge.PullRequest, diff worktree.Diff, commits []string, round int) guidelines.Change {
	change := guidelines.Change{Title: pr.Title, Body: pr.Body, Branch: pr.Head.Name, Labels: pr.Labels, Commits: commits, Round: round}
	for _, f := range diff.Files {
		change.Files = append(change.Files, guidelines.File{Path: f.Path, OldPath: f.OldPath, Patch: f.Patch, Truncated: f.Truncated})
	}
	return change
}

// writePatches writes one patch file for each changed file, named by number so
// that no path of the change becomes a path on this machine.
func writePatches(dir string, diff worktree.Diff) ([]string, error) {
	paths := make([]string, len(diff.Files))
	for i, f := range diff.Files {
		if len(f.Patch) == 0 {
			continue
		}
		paths[i] = filepath.Join(dir, fmt.Sprintf("%04d.patch", i+1))
		if err := os.WriteFile(paths[i], f.Patch, 0o600); err != nil {
			return nil, fmt.Errorf("write the change for the model: %w", err)
		}
	}
	return paths, nil
}

// history is the ledger that the latest review left, and the number of the
// round that comes now. Only this login's own reviews count.
func history(pr forge.PullRequest) (verdict.Ledger, int) {
	var ledger verdict.Ledger
	round := 0
	for _, rev := range pr.Reviews {
		if !strings.EqualFold(rev.Author.Login, pr.Viewer) || rev.EditedAt != nil {
			continue
		}
		if rec, err := verdict.ParseRecord(rev.Body); err == nil && rec.Round > round {
			ledger, round = rec.Ledger, rec.Round
		}
	}
	return ledger, round + 1
}

// Standing is the verdict that this login has already given on the present head
// against the present base branch, and where it can be seen. What was dismissed or
// edited does not stand.
func Standing(pr forge.PullRequest) (v verdict.Verdict, url string, ok bool) {
	for _, rev := range pr.Reviews {
		if !strings.EqualFold(rev.Author.Login, pr.Viewer) || rev.SHA != pr.Head.SHA || rev.State == forge.Dismissed || rev.EditedAt != nil {
			continue
		}
		if rec, err := verdict.ParseRecord(rev.Body); err == nil && rec.BaseBranch == pr.Base.Name {
			return rec.Verdict, rev.URL, true
		}
	}
	return "", "", false
}

func record(pr forge.PullRequest, rules, engineName string, round int, ledger verdict.Ledger, v verdict.Verdict, res engine.Result) verdict.Record {
	return verdict.Record{
		Verdict: v, Head: pr.Head.SHA, Base: pr.Base.SHA, BaseBranch: pr.Base.Name, Round: round, Guidelines: rules, Ledger: ledger,
		Engine: engineName, Model: res.Model, CostUSD: res.CostUSD, Duration: res.Duration,
		Tokens: verdict.Tokens{Input: res.Usage.Input, CacheWrite: res.Usage.CacheWrite, CacheRead: res.Usage.CacheRead, Output: res.Usage.Output},
	}
}

// grounds are what the session's answer is held against.
func grounds(ctx context.Context, tree *worktree.Tree, pr forge.PullRequest, diff worktree.Diff, rules []guidelines.Applied, ledger verdict.Ledger) verdict.Grounds {
	g := verdict.Grounds{Changed: spelled(diff.Files), Rows: map[string]verdict.Severity{}, Ledger: ledger}
	for _, r := range rules {
		g.Rows[r.Row.ID] = verdict.Severity(r.Row.Severity)
	}
	path := map[string]string{}
	for _, f := range diff.Files {
		path[spell(f.Path)] = f.Path
	}
	g.File = func(spelled string) ([]byte, error) {
		return tree.ReadFile(ctx, pr.Head.SHA, cmp.Or(path[spelled], spelled))
	}
	return g
}

func spelled(files []worktree.FileDiff) []string {
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = spell(f.Path)
	}
	return paths
}

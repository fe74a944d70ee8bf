package author

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"touchstone/agent/config"
	"touchstone/agent/engine"
	"touchstone/agent/engine/session"
	"touchstone/agent/forge"
	"touchstone/guidelines"
	"touchstone/verdict"
	"touchstone/verdict/decide"
	"touchstone/worktree"
)

// maxTurns is how often a session is asked for a fix: once, and once more with what was wrong with it. It is
// also asked once about findings that it did not mention.
const maxTurns = 2

// repair is one fix in its worktree, from the merged base to a commit that may be pushed.
type repair struct {
	author *Author
	// kind is the act: a fix, or applying edits.
	kind     decide.Kind
	tree     *worktree.Tree
	brief    brief
	merge    worktree.MergeResult
	locks    locks
	verify   config.RepositoryVerify
	allowed  verdict.Allowance
	progress func(engine.Progress)
	own      ownChange
	report   report
	out      Outcome

	session engine.Session
	// took is the total time of the session's turns. model is the engine and the model that answered last.
	took  time.Duration
	model string
	// change identifies what the session changed. unverified is the change on which verify last failed.
	// onBase is how verify fails on the base, if it does.
	change, unverified string
	onBase             *failure
	// lost says which tests ran on the base and do not run on the fix. before is the result of the tests
	// before the session; nil if not known.
	lost   string
	before *tested
	// begun is the pull request as it was when the fix began.
	begun forge.PullRequest
}

// run makes the commit, with as many turns of the session as are needed and allowed.
func (r *repair) run(ctx context.Context) (err error) {
	defer func() {
		if r.session != nil {
			err = errors.Join(err, r.session.Close())
		}
	}()
	ask := ""
	if r.brief.needsModel() {
		ask = r.brief.prompt()
	}
	var before error
	asked := false // about the findings that the session had not mentioned
	for turn := 0; ; {
		if ask != "" {
			if err := r.ask(ctx, ask); err != nil {
				return err
			}
			if turn == 0 || before != nil {
				turn++
			}
		}
		err := r.commit(ctx)
		if err == nil {
			err = r.tested(ctx)
		}
		if errors.Is(err, ErrNothingChanged) && before != nil {
			err = before // the earlier error still holds
		}
		var missing []string
		if turn > 0 && !asked {
			missing = r.report.missing(r.brief.ledger)
		}
		switch {
		case err == nil && len(missing) == 0:
			return nil
		case err != nil && (!refused(err) || inherited(err) || turn == maxTurns || r.allowed.NoModel):
			return err
		}
		before, asked = err, asked || len(missing) > 0
		sent := zerolog.Ctx(ctx).Info().Strs("unanswered", missing)
		if err != nil {
			sent = sent.Str("why", err.Error())
		}
		sent.Msg("the session is sent back to its work")
		ask = r.brief.again(err, missing, r.report.wrong)
		if turn == 0 {
			// There is only a merge so far, and it was rejected.
			ask = r.brief.prompt() + ask
		}
	}
}

// open starts the session.
func (r *repair) open(ctx context.Context) (err error) {
	if r.allowed.NoModel {
		return errors.New("the base cannot be merged without a session, and no session may start")
	}
	settings := r.author.Settings.Present()
	task := config.Fix
	if len(r.brief.conflicts) > 0 {
		task = config.Conflict
	}
	timeout := cmp.Or(settings.Timeout.Duration(), engine.DefaultTimeout)
	if r.allowed.Time > 0 {
		timeout = min(timeout, r.allowed.Time)
	}
	r.warm(ctx, session.ForSession)
	var sides []string
	if r.brief.sidesDir != "" {
		sides = []string{r.brief.sidesDir}
	}
	r.session, err = r.author.Engine.Open(ctx, engine.Request{
		Role: engine.Author, Dir: r.tree.Dir(), ReadDirs: sides, Instructions: guidelines.AuthorInstructions(),
		Model: settings.ModelFor(task), Effort: settings.EffortFor(task), Allow: settings.Allow,
		Timeout: timeout, IdleTimeout: settings.IdleTimeout.Duration(), ToolTimeout: settings.ToolTimeout.Duration(), Budget: r.allowed.USD,
		MaxTurns: settings.MaxTurns,
		Progress: r.progress,
	})
	return err
}

// ask has the session work on the tree for one turn.
func (r *repair) ask(ctx context.Context, prompt string) (err error) {
	if r.session == nil {
		if err := r.open(ctx); err != nil {
			return err
		}
	}
	r.locks.made, r.lost = false, ""
	result, err := r.session.Ask(ctx, prompt)
	r.out.CostUSD += result.CostUSD
	r.took += result.Duration
	r.model = strings.Join(strings.Fields(result.Engine+" "+result.Model), " ")
	r.out.Answer = result.Text
	r.report.read(result.Text, r.brief)
	r.out.Repaired, r.out.Disputed, r.out.Person = r.report.of(repaired), r.report.of(disputed), r.report.of(person)
	if r.out.Started.IsZero() {
		r.out.Started = result.Started
	}
	return err
}

// commit turns the content of the tree into the one commit on top of the branch, or says why it must not be
// committed.
func (r *repair) commit(ctx context.Context) error {
	change, undoes, err := r.own.inspect(ctx)
	if err == nil && len(r.locks.stale) > 0 && !r.locks.made {
		// The tools read what the session wrote, and some of them run it. So what they leave next to the lock
		// files is inspected like the session's own work.
		if err = r.author.regenerate(ctx, r.tree, r.locks); err == nil {
			change, undoes, err = r.own.inspect(ctx)
		}
	}
	if err != nil {
		return err
	}
	r.change = cmp.Or(change, r.merge.Commit, "a resolved conflict")
	commit := r.tree.Commit
	if r.out.Head != "" && r.out.Head != r.merge.Commit {
		commit = r.tree.Amend
	}
	sha, err := commit(ctx, r.brief.message(r.out.Answer, r.report, verdict.Repair{
		Change: change, Undoes: undoes, Tests: r.lost, Model: r.model, Cost: verdict.Cost{USD: r.out.CostUSD, Time: r.took},
	}), r.author.Identity)
	switch {
	case errors.Is(err, worktree.ErrNothingToCommit) && r.out.Head == "" && !r.brief.needsModel():
		r.out.Head = r.merge.Commit
		return nil
	case errors.Is(err, worktree.ErrNothingToCommit):
		return r.brief.nothingChanged(r.report)
	case err != nil:
		return uncommittable(ctx, err)
	}
	r.out.Head, r.own.head, r.own.merging = sha, sha, ""
	return nil
}

// tested runs the repository's own check on the commit. If the check reports which tests ran, tested also
// judges by that whether the session lowered the quality bar. Other lost tests are mentioned in the commit.
func (r *repair) tested(ctx context.Context) error {
	head, err := r.verified(ctx)
	if !r.own.byRuns || r.out.Head == r.merge.Commit || err != nil && !refused(err) {
		return err
	}
	r.own.runs = nil
	if err == nil {
		err = r.compareRuns(ctx, head)
	}
	lowered := r.own.lowered(ctx)
	switch {
	case err != nil && lowered != nil:
		return fmt.Errorf("%w; %w", err, lowered)
	case err != nil || lowered != nil:
		return cmp.Or(err, lowered)
	case r.lost != "":
		return r.commit(ctx)
	}
	return nil
}

// verified runs the repository's own check on the commit, without files that the session made and git
// ignores. What the command leaves in the tree, or commits, does not become part of the fix.
func (r *repair) verified(ctx context.Context) (head tested, err error) {
	if len(r.verify.Command) == 0 {
		return head, nil
	}
	if err := r.tree.Discard(ctx, r.out.Head); err != nil {
		return head, err
	}
	r.warm(ctx, session.ForVerify)
	log, command, began := zerolog.Ctx(ctx), strings.Join(r.verify.Command, " "), time.Now()
	log.Info().Str("command", command).Msg("verify runs on the fix")
	failed := step(ctx, "verify", func(ctx context.Context) (err error) {
		head, err = r.verifyIn(ctx, r.tree, session.Caches(r.tree.Dir(), session.ForVerify))
		return err
	})
	if took := time.Since(began).Round(time.Millisecond); failed == nil {
		log.Info().Stringer("took", took).Msg("verify passed")
	} else if ctx.Err() == nil {
		log.Warn().Stringer("took", took).Str("why", failed.Error()).Msg("verify failed")
	}
	switch f := (*failure)(nil); {
	case errors.As(failed, &f):
		if r.unverified == "" && r.kind == decide.Fix {
			r.onBase = r.verifyBase(ctx)
		}
		r.unverified, f.onBase = r.change, r.onBase
	case failed == nil && r.unverified != "" && r.unverified == r.change:
		log.Warn().Msg("verify failed, and then passed on the same work: its outcome depends on something else as well")
	}
	if err := r.tree.Discard(ctx, r.out.Head); err != nil {
		return head, err
	}
	if errors.Is(failed, errNoProgram) {
		failed = fmt.Errorf("%w: %w", ErrNoVerify, failed)
	}
	return head, failed
}

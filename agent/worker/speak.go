package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"touchstone/agent/forge"
	"touchstone/agent/pull"
	"touchstone/agent/trust"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// Approver posts a review: here, the approval of a head that a person lets pass.
type Approver interface {
	PostReview(ctx context.Context, ref forge.Ref, r forge.Review) (forge.Posted, error)
}

// ErrMovedOn says that a pull request, when read again, no longer needs what was decided. Nothing was done.
var ErrMovedOn = errors.New("the pull request changed")

// lift approves a head on a person's word. It removes the label first: the label is useless once the approval
// exists, and if the approval then fails, the next look posts it.
func (a *Agent) lift(ctx context.Context, step *Step) error {
	pr, action, err := a.Look(ctx, step.PR.Ref)
	if err != nil {
		return fmt.Errorf("look at the pull request again before approving it: %w", err)
	}
	if action.Kind != decide.Lift || action.SHA != step.Action.SHA {
		return fmt.Errorf("%w: %s", ErrMovedOn, action.Reason)
	}
	record := *action.Record
	if record.Tree == "" { // the head was not reviewed
		request, err := a.request(ctx, pr)
		if err != nil {
			return err
		}
		merge, err := a.Worktrees.Squash(ctx, request)
		if err != nil {
			return fmt.Errorf("compute what merging it makes: %w", err)
		}
		record.Base, record.Tree = merge.Base, merge.Tree
		record.State(pr.Title, pr.Body, nil)
	}
	seal, err := record.Seal(trust.Signer(a.Key, pr))
	if err != nil {
		return err
	}
	if !pull.CalledAt(pr, a.Config().Labels.NeedsHuman, nil).IsZero() {
		if err := a.Caller.RemoveLabel(ctx, pr.Ref, a.Config().Labels.NeedsHuman); err != nil {
			return err
		}
	}
	review := forge.Review{SHA: action.SHA, Event: forge.Approve, Body: passed(record) + "\n" + seal}
	posted, err := a.Approve.PostReview(ctx, pr.Ref, review)
	if err != nil {
		return fmt.Errorf("approve it: %w", err)
	}
	if a.Reviewer.Withdrawn(ctx, pr, posted, record) {
		return fmt.Errorf("%w: another agent of this login approved it at the same time", ErrMovedOn)
	}
	step.Verdict, step.URL = verdict.Approve, posted.URL
	return nil
}

// passed says who let a head pass, and what they let pass.
func passed(r verdict.Record) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### Approved on a person's word\n\nNo model has reviewed %s again.\n", verdict.Short(r.Head))
	if w := r.Lifted; w != nil && w.BrokeGlass {
		fmt.Fprintf(&b, "\n`%s` ordered break-glass: %s\n", w.By, verdict.Prose(w.Why))
	} else if w != nil {
		fmt.Fprintf(&b, "\n`%s` approved exactly this commit, which lets pass:\n", w.By)
	}
	for _, h := range r.Holds {
		b.WriteString(heldLine(h))
	}
	for _, e := range r.Ledger {
		if e.Status == verdict.Waived && e.Said != nil {
			fmt.Fprintf(&b, "- finding %s, waived by `%s`: %s\n", e.ID, e.Said.By, verdict.Prose(e.Said.Why))
		}
	}
	if r.Lifted != nil && r.Lifted.BrokeGlass {
		for _, e := range r.Ledger.Outstanding() {
			b.WriteString(openLine(e))
		}
	}
	return b.String()
}

// postNotice says that a pull request waits for its author (to merge it, to work on its branch, or to edit
// its texts), or that its reviewer does not respond. The last two topics also notify people: the author's
// agent comments under the author's own login, of which GitHub does not notify the author, and nothing else
// would go on.
func (a *Agent) postNotice(ctx context.Context, step *Step) error {
	reason, stands := strings.CutPrefix(step.Action.Reason, "it ")
	subject := verdict.Short(step.Action.SHA)
	if !stands {
		subject += ":"
	}
	text := subject + " " + verdict.Prose(reason)
	if step.Action.Topic == decide.Texts { // what to do comes first
		text = strings.ToUpper(reason[:1]) + verdict.Prose(reason[1:])
	}
	body := fmt.Sprintf("%s. %s\n\n%s", text, remedy(step), verdict.WaitingMark(step.Action.SHA, step.Action.Topic))
	url, err := a.Caller.Comment(ctx, step.PR.Ref, body)
	step.URL = url
	if err == nil && (step.Action.Topic == decide.NoReviewer || step.Action.Topic == decide.Texts) {
		a.notify(ctx, fmt.Sprintf("%s: %s\n%s", step.PR.Ref, step.Action.Reason, step.PR.URL))
	}
	return err
}

// remedy says what the author can do about it.
func remedy(step *Step) string {
	green := strings.HasPrefix(step.Action.Reason, "it is approved and green, and waits")
	switch {
	case step.Action.Topic == decide.NoReviewer:
		return "`touchstone status` on the reviewer's machine shows whether its agent runs and what it does. Once it runs, the review starts " +
			"by itself."
	case step.Action.Topic == decide.Texts:
		return "It is reviewed again once that is done; until then no session reviews its files. If the finding is wrong, comment " +
			"`/touchstone dispute ID REASON`."
	case step.Action.Topic == decide.Overtaken:
		return "Request that reviewer's review again, or dismiss the review that requests changes."
	case !strings.HasPrefix(step.Action.Reason, "it is approved"):
		return "Push to the branch yourself; the new head is then reviewed."
	case step.Action.Topic == decide.FailedBefore:
		return "Run it on this head, and the agent continues; or merge the pull request on GitHub."
	case step.Action.Topic == decide.NoCheck:
		return "Run a check on this head that also runs on the base, or merge it on GitHub. `merge.checks` in `.touchstone/config.yaml` can " +
			"name the checks that count; if the repository has no checks, turn `merge.require_checks` off."
	case green && step.PR.Shared:
		return "Merge it on GitHub."
	case green:
		return fmt.Sprintf("`touchstone merge %d --repo %s` merges it as the agent would have.", step.PR.Ref.Number, step.PR.Ref.Repo)
	}
	return "Its page on GitHub says what is missing."
}

// release removes the label by which a person was called, since a person tells the agents to go on.
func (a *Agent) release(ctx context.Context, step *Step) error {
	return a.Caller.RemoveLabel(ctx, step.PR.Ref, a.Config().Labels.NeedsHuman)
}

// reply says how to write an order that could not be followed.
func (a *Agent) reply(ctx context.Context, step *Step) error {
	u := step.Action.Unclear
	body := fmt.Sprintf("`%s`, the agents cannot follow that order. %s\n\n%s", u.By, u.Why, verdict.ReplyMark(u.ID))
	url, err := a.Caller.Comment(ctx, step.PR.Ref, body)
	step.URL = url
	return err
}

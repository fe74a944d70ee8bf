package worker

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"touchstone/agent/forge"
	"touchstone/agent/journal"
	"touchstone/agent/notify"
	"touchstone/agent/pull"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// Caller calls a person to a pull request, and replies there.
type Caller interface {
	Comment(ctx context.Context, ref forge.Ref, body string) (url string, err error)
	Reply(ctx context.Context, ref forge.Ref, comment int64, body string) error
	AddLabel(ctx context.Context, ref forge.Ref, name string) error
	RemoveLabel(ctx context.Context, ref forge.Ref, name string) error
}

// escalate calls a person to a pull request. The label is the queue and is set last, so that every pull
// request in the queue has its briefing. If the agent dies before that, its next look does the rest: it then
// notifies twice rather than never. If only setting the label failed, it does not notify again.
func (a *Agent) escalate(ctx context.Context, step *Step) error {
	pr := step.PR
	label := a.Config().Labels.NeedsHuman
	half := pull.HalfCalled(pr, label, step.Action.Tomorrow)
	if !half {
		f, err := a.gather(ctx, knowledge{a.Read, a}, pr)
		if err != nil {
			return fmt.Errorf("call a person: %w", err)
		}
		// Without the commits, the briefing contains what is known.
		if f.Commits, err = a.Read.Commits(ctx, pr.Ref); err != nil {
			zerolog.Ctx(ctx).Warn().Err(err).Msg("cannot read the commits, so the briefing does not say what the fixes did")
		}
		url, err := a.Caller.Comment(ctx, pr.Ref, a.briefing(pr, pull.StateOf(pr, a.Role, a.Config(), f), step.Action))
		if err != nil {
			return fmt.Errorf("call a person: %w", err)
		}
		step.URL = url
	}
	if !half || !a.failedToCall(pr) {
		a.notify(ctx, fmt.Sprintf("%s needs a person: %s\n%s", pr.Ref, step.Action.Reason, pr.URL))
	}
	return a.label(ctx, pr)
}

// label puts a pull request into the queue of those that need a person.
func (a *Agent) label(ctx context.Context, pr forge.PullRequest) error {
	if err := a.Caller.AddLabel(ctx, pr.Ref, a.Config().Labels.NeedsHuman); err != nil {
		return fmt.Errorf("call a person: %w", err)
	}
	return nil
}

// notify sends people the message of a comment.
func (a *Agent) notify(ctx context.Context, message string) {
	if err := notify.Send(ctx, a.Config().Notify.SlackWebhook, message); err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("the comment is posted, but the notification failed")
	}
}

// failedToCall reports whether this machine failed to set the label in an earlier call of a person to the
// present head. In that case it was not interrupted, so people were notified.
func (a *Agent) failedToCall(pr forge.PullRequest) bool {
	return a.acted(pr, func(e journal.Entry) bool {
		return e.Act == string(decide.Escalate) && !e.Ended.IsZero() && e.Outcome.Counts
	})
}

// heldLine is the list entry for a hold, openLine the one for a finding.
func heldLine(h verdict.Hold) string {
	return fmt.Sprintf("- %s %s %s\n", h.Kind, place(h.Path, h.Line), verdict.Prose(verdict.OneLine(h.Detail)))
}

func openLine(e verdict.Entry) string {
	return fmt.Sprintf("- %s [%s] %s %s %s\n", e.ID, e.Dimension, e.Severity, place(e.Path, e.Line), verdict.Prose(verdict.OneLine(e.Claim)))
}

// place is a location as a code span that the path cannot end.
func place(path string, line int) string {
	if path == "" {
		return "`the whole change`"
	}
	return "`" + verdict.Place(strings.ReplaceAll(verdict.OneLine(path), "`", ""), line) + "`"
}

// latest is the record of the newest review that counts, or an empty one, and the review's URL.
func (a *Agent) latest(pr forge.PullRequest) (verdict.Record, string) {
	for _, r := range slices.Backward(pr.Reviews) {
		if r.EditedAt != nil || !a.counts(pr, r.Author.Login) {
			continue
		}
		if record, err := verdict.ParseRecord(r.Body); err == nil {
			return record, r.URL
		}
	}
	return verdict.Record{}, ""
}

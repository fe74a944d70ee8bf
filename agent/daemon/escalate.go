package daemon

import (
	"context"
	"fmt"
	"strings"

	"github.com/rs/zerolog"

	"touchstone/agent/forge"
	"touchstone/verdict"
)

// Caller calls a person to a pull request.
type Caller interface {
	Comment(ctx context.Context, ref forge.Ref, body string) (url string, err error)
	AddLabel(ctx context.Context, ref forge.Ref, name string) error
}

// escalate hands a pull request to a person. The label is the queue and comes
// last, so that nobody finds a pull request in it without its briefing.
func (a *Agent) escalate(ctx context.Context, step *Step) error {
	pr := step.PR
	halfDone := a.Journal != nil && a.Journal.Unfinished(pr.Ref.String(), pr.Head.SHA, string(verdict.Escalate)) && called(pr)
	if !halfDone {
		url, err := a.Caller.Comment(ctx, pr.Ref, a.briefing(pr, step.Action))
		if err != nil {
			return fmt.Errorf("call a person: %w", err)
		}
		step.URL = url
	}
	if err := a.Caller.AddLabel(ctx, pr.Ref, a.Config.Labels.NeedsHuman); err != nil {
		return fmt.Errorf("call a person: %w", err)
	}
	message := fmt.Sprintf("%s needs a person: %s\n%s", pr.Ref, step.Action.Reason, pr.URL)
	if err := (bell{url: string(a.Config.Notify.SlackWebhook)}).ring(ctx, message); err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("the label is set, but nobody was notified")
	}
	return nil
}

// briefing is what a person needs to act on in two minutes: what was tried,
// what stays open, how to resume.
func (a *Agent) briefing(pr forge.PullRequest, action verdict.Action) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### A person is needed\n\nThe %s agent stopped at %s: %s.\n", a.Role, pr.Head.SHA[:min(7, len(pr.Head.SHA))], action.Reason)
	if failure := a.past(pr).failure; failure != "" {
		fmt.Fprintf(&b, "\nThe last attempt ended with: %s\n", verdict.Prose(failure))
	}
	if open := latestLedger(pr, a.Config.Reviewers).Outstanding(); len(open) > 0 {
		b.WriteString("\nStill open:\n")
		for _, e := range open {
			fmt.Fprintf(&b, "- [%s] %s `%s:%d` %s\n", e.Dimension, e.Severity, strings.ReplaceAll(e.Path, "`", ""), e.Line, verdict.Prose(e.Claim))
		}
	}
	fmt.Fprintf(&b, "\nTo go on: push a commit or settle what is open, then take the label `%s` off. The agents start afresh from there.\n", a.Config.Labels.NeedsHuman)
	fmt.Fprintf(&b, "\n<!-- touchstone:escalation v1 %s -->", pr.Head.SHA)
	return b.String()
}

// latestLedger is the ledger of the newest review that counts.
func latestLedger(pr forge.PullRequest, reviewers []string) verdict.Ledger {
	for i := len(pr.Reviews) - 1; i >= 0; i-- {
		r := pr.Reviews[i]
		if r.EditedAt != nil || !holds(reviewers, r.Author.Login) && !strings.EqualFold(r.Author.Login, pr.Viewer) {
			continue
		}
		if record, err := verdict.ParseRecord(r.Body); err == nil {
			return record.Ledger
		}
	}
	return nil
}

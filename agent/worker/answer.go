package worker

import (
	"context"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"touchstone/agent/author"
	"touchstone/agent/forge"
	"touchstone/agent/pull"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// answer replies in the threads of findings, by id, with what was done about them. What cannot be posted
// there is in the commit. It is not cancelled when the agent's own push makes a new head, although the act
// is.
func (a *Agent) answer(ctx context.Context, pr forge.PullRequest, answers map[string]string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	for _, t := range pull.FindingThreads(pr, a.Config().Reviewers) {
		text := answers[t.Finding]
		if text == "" || t.Resolved {
			continue
		}
		if err := a.Caller.Reply(ctx, pr.Ref, t.Comments[0].ID, text); err != nil {
			zerolog.Ctx(ctx).Warn().Err(err).Str("finding", t.Finding).Msg("cannot answer in the finding's thread what was done about it")
		}
	}
}

// answersOf are the replies for the threads of the findings that a fix answers.
func answersOf(out author.Outcome) map[string]string {
	answers := map[string]string{}
	for lead, words := range map[string]map[string]string{
		"Changed in " + out.Head + ": ": out.Repaired, verdict.DisputeAnswer(""): out.Disputed, "This needs a person: ": out.Person,
	} {
		for id, text := range words {
			if text != "" {
				answers[id] = lead + text + "\n\n" + verdict.AnswerMark
			}
		}
	}
	return answers
}

// apply pushes the edits that the nits of an approval propose. If that fails, it says so in the threads and
// the log, and the pull request is merged as it is: this is no failure and is not retried.
func (a *Agent) apply(ctx context.Context, step *Step) error {
	out, err := a.Author.Apply(ctx, step.PR, step.Action.Record.Edits)
	switch {
	case err == nil:
		step.Head = out.Head
		a.answer(ctx, step.PR, answersOf(out))
		return nil
	case ctx.Err() != nil || !CountsAsAttempt(err, *step):
		return err
	}
	zerolog.Ctx(ctx).Warn().Err(err).Msg("cannot apply the suggestions of nits; it is merged without them")
	text := fmt.Sprintf("Not applied: %s. The pull request is merged without this suggestion.\n\n%s",
		verdict.Prose(verdict.Clip(err.Error(), verdict.MaxReason)), verdict.WaitingMark(step.Action.SHA, decide.Unapplied))
	answers := map[string]string{}
	for _, e := range step.Action.Record.Edits {
		answers[e.Finding] = text
	}
	a.answer(ctx, step.PR, answers)
	return nil
}

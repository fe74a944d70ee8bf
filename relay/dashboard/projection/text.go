package projection

import (
	"cmp"
	"fmt"
	"strings"

	"touchstone/relay/event"
	"touchstone/verdict"
)

// maxText limits the description of one event in a timeline, in characters.
const maxText = 200

// describe summarises an event in a few words for a pull request's timeline.
func describe(e event.Event, in parsed) string {
	switch {
	case e.Type == "pull_request" && in.PullRequest != nil:
		return describePull(e, in)
	case e.Type == "pull_request_review" && in.Review != nil:
		text := strings.ReplaceAll(strings.ToLower(Plain(in.Review.State, 40)), "_", " ")
		if e.Action != "submitted" {
			text = Plain(e.Action, 40) + ", was " + text
		}
		if in.unsealed == nil {
			text += fmt.Sprintf(", round %d", in.sealed.Record.Round)
		} else if line := Plain(firstLine(in.Review.Body), maxText); line != "" {
			text += ": " + line
		}
		return text
	case (e.Type == "issue_comment" || e.Type == "pull_request_review_comment") && in.Comment != nil:
		return Plain(firstLine(in.Comment.Body), maxText)
	case e.Type == "check_run" && in.CheckRun != nil:
		return Plain(in.CheckRun.Name, 100) + ": " + Plain(cmp.Or(in.CheckRun.Conclusion, in.CheckRun.Status), 40)
	case e.Type == "status":
		text := Plain(in.Context, 100) + ": " + Plain(in.State, 20)
		if in.Description != "" {
			text += ", " + Plain(in.Description, maxText)
		}
		return text
	case e.Type == "push" && len(in.Commits) == 1:
		return Plain(firstLine(in.Commits[0].Message), maxText)
	case e.Type == "push" && len(in.Commits) > 1:
		return fmt.Sprintf("%d commits", len(in.Commits))
	}
	return ""
}

func describePull(e event.Event, in parsed) string {
	o := in.PullRequest
	switch e.Action {
	case "opened", "reopened", "edited":
		return Plain(o.Title, maxText)
	case "synchronize":
		return "head is now " + verdict.Short(Plain(o.Head.SHA, 64))
	case "labeled", "unlabeled":
		return Plain(in.Label.Name, 100)
	case "review_requested", "review_request_removed":
		return Plain(in.Reviewer.Login, 100)
	case "closed":
		if o.MergedAt != nil {
			return "merged as " + verdict.Short(Plain(o.MergeSHA, 64))
		}
	}
	return ""
}

// firstLine returns the first visible line of a text: Markdown's comments are invisible.
func firstLine(text string) string {
	for line := range strings.Lines(verdict.Clip(text, 4000)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "<!--") {
			return line
		}
	}
	return ""
}

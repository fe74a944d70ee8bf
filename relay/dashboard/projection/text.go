package projection

import (
	"fmt"
	"strings"

	"touchstone/relay/event"
	"touchstone/verdict"
)

// maxText limits the description of one event in a timeline, in characters.
const maxText = 200

// describe summarises an event in a few words for a pull request's timeline.
func describe(e event.Event, in parsed) string {
	switch e.Type {
	case "pull_request":
		return describePull(e, in)
	case "pull_request_review":
		if in.Review == nil {
			return ""
		}
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
	case "issue_comment", "pull_request_review_comment":
		if in.Comment == nil {
			return ""
		}
		return Plain(firstLine(in.Comment.Body), maxText)
	case "check_run":
		if in.CheckRun == nil {
			return ""
		}
		state := in.CheckRun.Status
		if in.CheckRun.Conclusion != "" {
			state = in.CheckRun.Conclusion
		}
		return Plain(in.CheckRun.Name, 100) + ": " + Plain(state, 40)
	case "status":
		text := Plain(in.Context, 100) + ": " + Plain(in.State, 20)
		if in.Description != "" {
			text += ", " + Plain(in.Description, maxText)
		}
		return text
	case "push":
		if n := len(in.Commits); n == 1 {
			return Plain(firstLine(in.Commits[0].Message), maxText)
		} else if n > 1 {
			return fmt.Sprintf("%d commits", n)
		}
	}
	return ""
}

func describePull(e event.Event, in parsed) string {
	o := in.PullRequest
	if o == nil {
		return ""
	}
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

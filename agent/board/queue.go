package board

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"touchstone/agent/terminal"
	"touchstone/verdict"
)

// Queue is what one person or agent has to look at.
type Queue struct {
	Login string `json:"login"`
	// Waiting is what waits for the login, Mine its own other pull requests, NeedsHuman what else
	// waits for any person.
	Waiting    []Pull `json:"waiting"`
	Mine       []Pull `json:"mine"`
	NeedsHuman []Pull `json:"needs_human"`
	// Partial says that there are more open pull requests than were read.
	Partial bool `json:"partial"`
}

// QueueOf sorts open pull requests for a login.
func QueueOf(login string, pulls []Pull) Queue {
	q := Queue{Login: login, Waiting: []Pull{}, Mine: []Pull{}, NeedsHuman: []Pull{}}
	for _, p := range pulls {
		switch {
		case verdict.ListsLogin(p.WaitingOn, login):
			q.Waiting = append(q.Waiting, p)
		case verdict.SameLogin(p.Author, login):
			q.Mine = append(q.Mine, p)
		case p.Turn == verdict.TurnPerson:
			q.NeedsHuman = append(q.NeedsHuman, p)
		}
	}
	return q
}

// Write writes the queue for people.
func (q Queue) Write(to io.Writer) error {
	w := bufio.NewWriter(to)
	if len(q.Waiting)+len(q.Mine)+len(q.NeedsHuman) == 0 {
		fmt.Fprintf(w, "nothing waits for %s\n", terminal.Plain(q.Login))
	}
	for _, part := range []struct {
		title string
		pulls []Pull
	}{{"Waits for " + q.Login, q.Waiting}, {"Your other pull requests", q.Mine}, {"Needs a person", q.NeedsHuman}} {
		if len(part.pulls) > 0 {
			fmt.Fprintf(w, "%s (%d)\n", terminal.Plain(part.title), len(part.pulls))
			Rows(w, part.pulls, time.Now())
		}
	}
	if q.Partial {
		fmt.Fprintf(w, "There may be more: only the %d pull requests that changed last were read. A relay knows all of them.\n", MostRead)
	}
	return w.Flush()
}

// Rows writes two lines for each pull request: which one it is and what has come of it, and whose turn it is and why.
func Rows(w io.Writer, pulls []Pull, now time.Time) {
	width := 0
	for _, p := range pulls {
		width = max(width, utf8.RuneCountInString(terminal.Plain(p.Ref())))
	}
	for _, p := range pulls {
		stands, turn := p.Standing(), string(p.Turn)
		if p.CI != "" && p.CI != "none" {
			stands += ", CI " + p.CI
		}
		if since := age(p.Since, now); since != "" {
			turn += " for " + since
		}
		fmt.Fprintf(w, "  %-*s  %s (%s)\n", width, terminal.Plain(p.Ref()), terminal.Plain(p.Title), terminal.Plain(stands))
		why := p.Reason
		if _, rest, found := strings.Cut(why, ": "); found && strings.HasPrefix(why, verdict.Waits) {
			why = rest // for whom it waits is said
		}
		fmt.Fprintf(w, "  %*s  %s: %s\n", width, "", terminal.Plain(turn), terminal.Plain(why))
	}
}

// age is a span of time in its largest unit.
func age(since, now time.Time) string {
	if since.IsZero() {
		return ""
	}
	switch d := max(0, now.Sub(since)); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	default:
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	}
}

package board

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

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
		mine := strings.EqualFold(p.Author, login)
		waits := false
		for _, other := range p.WaitingOn {
			waits = waits || strings.EqualFold(other, login)
		}
		switch {
		case waits, mine && p.Turn == verdict.TurnPerson:
			q.Waiting = append(q.Waiting, p)
		case mine:
			q.Mine = append(q.Mine, p)
		case p.Turn == verdict.TurnPerson:
			q.NeedsHuman = append(q.NeedsHuman, p)
		}
	}
	return q
}

// Write writes the queue for people.
func (q Queue) Write(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
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
		fmt.Fprintf(w, "There are more: only the %d pull requests that changed last were read. A relay knows them all.\n", MostRead)
	}
	return w.Flush()
}

// Rows writes a line for each pull request, its columns divided by tabs.
func Rows(w io.Writer, pulls []Pull, now time.Time) {
	for _, p := range pulls {
		fmt.Fprintf(w, "  %s\t%s\tCI %s\t%s\t%s\t%s\n", terminal.Plain(p.Ref()), terminal.Plain(p.Standing()), terminal.Plain(p.CI),
			terminal.Plain(string(p.Turn)), age(p.Since, now), terminal.Plain(p.Reason))
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

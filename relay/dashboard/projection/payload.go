package projection

import (
	"strings"
	"unicode"

	"touchstone/relay/event"
	"touchstone/relay/internal/payload"
	"touchstone/verdict"
)

// parsed is what an event's payload says. It is empty for types of events that the projection does not read.
type parsed struct {
	*payload.GitHub
	// sealed is the record in the review's text, if there is a review and unsealed is nil.
	sealed   verdict.Sealed
	unsealed error
	text     string // the description in lists of events
}

// read are the event types whose payloads the projection parses.
var read = map[string]bool{
	"pull_request": true, "pull_request_review": true, "pull_request_review_comment": true, "issue_comment": true, "status": true,
	"check_run": true, "push": true, "ping": true, "repository": true, "workflow_run": true,
}

// reads reports whether the projection parses the payload of an event.
func (p *Projection) reads(e event.Event) bool { return read[e.Type] && p.FromGitHub(e.Source) }

// parse returns what a payload says. The source has read it already, unless the event comes from the store.
func parse(e event.Event) parsed {
	in, ok := e.Parsed.(*payload.GitHub)
	if !ok {
		var err error
		if in, err = payload.Read(e.Payload); err != nil { // it is no JSON, which the source would have refused
			in = new(payload.GitHub)
		}
	}
	p := parsed{GitHub: in}
	if p.Review != nil {
		p.sealed, p.unsealed = verdict.ParseSealed(p.Review.Body)
	}
	p.text = describe(e, p)
	return p
}

// Plain returns untrusted text on one line, cut after n characters, without characters that control a terminal,
// reverse the text's direction or are invisible.
func Plain(text string, n int) string {
	var b strings.Builder
	space := false
	for _, r := range text {
		switch {
		case unicode.IsSpace(r) || r == unicode.ReplacementChar:
			space = b.Len() > 0
			continue
		case !unicode.IsPrint(r):
			continue
		}
		if n--; n < 0 {
			return b.String() + "…"
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

package verdict

import (
	"strings"
	"unicode"
)

// Turn says who must act next on a pull request.
type Turn string

// The turns. TurnReviewer and TurnAuthor mean that role's agent or the people behind it. TurnCI is whatever
// runs checks, including a merge queue. TurnNobody means that GitHub itself acts, or that the pull request is
// done.
const (
	TurnReviewer Turn = "reviewer"
	TurnAuthor   Turn = "author"
	TurnCI       Turn = "ci"
	TurnPerson   Turn = "person"
	TurnNobody   Turn = "nobody"
)

// Waits begins an agent's status text for a pull request on which the agent has nothing to do.
const Waits = "waiting"

const waitsFor = Waits + " for "

// awaited is how an agent names the party that it waits for when it knows no login.
var awaited = map[Turn]string{TurnPerson: "a person", TurnCI: "CI", TurnReviewer: "its reviewer"}

// otherThan stands before the login of [Party.Not].
const otherThan = " other than @"

// Party is who a pull request waits for.
type Party struct {
	Turn Turn
	// Logins are the party's logins, if known.
	Logins []string
	// Not is set when a person is awaited and no login is known: the login that it may not be, since people
	// cannot let their own work pass.
	Not string
}

// Waiting is the sentence fragment in which an agent says whose turn it is, and why: "waiting for @mona: it
// is a draft". [Awaited] reads it.
func Waiting(on Party, why string) string {
	who := awaited[on.Turn]
	switch {
	case len(on.Logins) > 0:
		who = "@" + strings.Join(on.Logins, ", @")
	case on.Turn == TurnPerson && on.Not != "":
		who += otherThan + on.Not
	}
	text := Waits
	if who != "" {
		text = waitsFor + who
	}
	if why != "" {
		text += ": " + why
	}
	return text
}

// Awaited reads from a text of [Waiting] who the pull request waits for: logins or, if the text has none, the
// turn. It is empty for any other text, and for one that names nobody.
func Awaited(text string) (on Party) {
	who, found := strings.CutPrefix(text, waitsFor)
	if !found {
		return Party{}
	}
	who, _, _ = strings.Cut(who, ": ")
	if name, not, found := strings.Cut(who, otherThan); found && name == awaited[TurnPerson] {
		return Party{Turn: TurnPerson, Not: not}
	}
	for turn, name := range awaited {
		if who == name {
			return Party{Turn: turn}
		}
	}
	for name := range strings.SplitSeq(who, ", ") {
		login, found := strings.CutPrefix(name, "@")
		if !found || login == "" || strings.ContainsFunc(login, unicode.IsSpace) {
			return Party{}
		}
		on.Logins = append(on.Logins, login)
	}
	return on
}

// The names of the agents' own commit statuses, which never count as CI: the reviewer's and the author's.
const (
	OwnStatuses  = "touchstone/"
	ReviewStatus = OwnStatuses + "review"
	FixStatus    = OwnStatuses + "fix"
)

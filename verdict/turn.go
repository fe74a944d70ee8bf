package verdict

import (
	"strings"
	"unicode"
)

// Turn is whose turn it is to move a pull request on.
type Turn string

// The turns. Each of the first two is a role's agent or the people behind it. CI is what runs
// checks, a merge queue among them. TurnNobody is for what GitHub itself does, and for what is
// done.
const (
	TurnReviewer Turn = "reviewer"
	TurnAuthor   Turn = "author"
	TurnCI       Turn = "ci"
	TurnPerson   Turn = "person"
	TurnNobody   Turn = "nobody"
)

// Waits begins what an agent says of a pull request on which it has nothing to do itself.
const Waits = "waiting"

const waitsFor = Waits + " for "

// awaited are how an agent names those that it waits for where it names no login.
var awaited = map[Turn]string{TurnPerson: "a person", TurnCI: "CI", TurnReviewer: "its reviewer"}

// otherThan stands before the login of [Party.Not].
const otherThan = " other than @"

// Party is whom a pull request waits for.
type Party struct {
	Turn Turn
	// Logins are who that is, where it is known.
	Logins []string
	// Not is, where a person is waited for and none is known, who it may not be: nobody lets pass what they wrote.
	Not string
}

// Waiting is the sentence part by which an agent says whose turn it is, and why: "waiting for @mona: it is a draft". [Awaited]
// reads it.
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

// Awaited is whom a pull request waits for by what [Waiting] says: logins, or where it names none the turn itself. It is empty if
// the text is none of its own, or names nobody.
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

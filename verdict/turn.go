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

// Waiting is the sentence part by which an agent says whose turn it is, and why: "waiting for @mona: it is a draft". Logins are
// of an author or of reviewers; none are needed. [Awaited] reads it.
func Waiting(turn Turn, logins []string, why string) string {
	who := awaited[turn]
	if len(logins) > 0 {
		who = "@" + strings.Join(logins, ", @")
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

// Awaited is whose turn it is by what [Waiting] says: logins, or where it names none the turn itself. Both are empty if the text
// is none of its own, or names nobody.
func Awaited(text string) (turn Turn, logins []string) {
	who, found := strings.CutPrefix(text, waitsFor)
	if !found {
		return "", nil
	}
	who, _, _ = strings.Cut(who, ": ")
	for turn, name := range awaited {
		if who == name {
			return turn, nil
		}
	}
	for name := range strings.SplitSeq(who, ", ") {
		login, found := strings.CutPrefix(name, "@")
		if !found || login == "" || strings.ContainsFunc(login, unicode.IsSpace) {
			return "", nil
		}
		logins = append(logins, login)
	}
	return "", logins
}

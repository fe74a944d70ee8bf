package verdict

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Verb is what a command orders.
type Verb string

// The verbs. Whoever may push may give any of them but the last two, for which the
// configuration can ask for more.
const (
	// AskReview orders another review of the head, AskFix another try at fixing it.
	AskReview Verb = "review"
	AskFix    Verb = "fix"
	// Stop keeps all agents from a pull request, Resume lets them go on.
	Stop   Verb = "stop"
	Resume Verb = "resume"
	// Dispute has a finding judged again, with a reason against it.
	Dispute Verb = "dispute"
	// Waive lets a finding pass, BreakGlass a whole head as it is.
	Waive      Verb = "waive"
	BreakGlass Verb = "break-glass"
)

// Command is an order of a person's, given in a comment.
type Command struct {
	Verb Verb
	// Finding is the id of the finding that Dispute and Waive are about.
	Finding string
	// Reason is the rest of the line; [Dispute], [Waive] and [BreakGlass] have one.
	Reason string
	// ID is the comment's: of two commands the later one has the greater.
	ID int64
	// By is who gave it, At when.
	By string
	At time.Time
}

// Comment is a comment on a pull request, with what its author may do there.
type Comment struct {
	ID   int64
	By   string
	At   time.Time
	Body string
	// Bot says that no person wrote it, Edited that it is not as it was written.
	Bot, Edited bool
	// CanPush is whether its author may push to the repository now, CanWaive and
	// CanBreakGlass whether that is enough to give those orders.
	CanPush, CanWaive, CanBreakGlass bool
}

// may reports whether the author of a comment may give an order.
func (c Comment) may(v Verb) bool {
	switch v {
	case Waive:
		return c.CanPush && c.CanWaive
	case BreakGlass:
		return c.CanPush && c.CanBreakGlass
	}
	return c.CanPush
}

var (
	order     = regexp.MustCompile(`^(?i:/touchstone[ \t]+([a-z-]+))[.,:;!]?(?:[ \t]+(.*))?$`)
	findingID = regexp.MustCompile("^[`#]?([0-9a-f]{8})`?[ \t]+(.*)$")
)

// ParseCommand reads the order that a comment begins with. Only the first line of its own
// counts, so that what is quoted or pasted orders nothing, and it counts whole or
// not at all. ID, By and At are the caller's to add.
func ParseCommand(body string) (c Command, ok bool) {
	m := order.FindStringSubmatch(opening(body))
	if m == nil {
		return Command{}, false
	}
	c = Command{Verb: Verb(strings.ToLower(m[1])), Reason: squeeze(m[2])}
	switch c.Verb {
	case AskReview, AskFix, Stop, Resume:
	case Dispute, Waive:
		about := findingID.FindStringSubmatch(c.Reason)
		if about == nil {
			return Command{}, false
		}
		c.Finding, c.Reason = about[1], about[2]
		fallthrough
	case BreakGlass:
		if weight(c.Reason) == 0 {
			return Command{}, false
		}
	default:
		return Command{}, false
	}
	c.Reason = clip(strings.ToValidUTF8(c.Reason, "�"), maxWhy)
	return c, true
}

// opening is the first line of a comment that is neither empty nor quotes another one, as
// "Quote reply" begins with. It is empty if there is none.
func opening(body string) string {
	for line := range strings.Lines(body) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, ">") {
			return line
		}
	}
	return ""
}

// Orders are the commands that count: of people who may give them, in comments
// that nobody edited, oldest first. To stop is an order in an edited one too, since it
// only keeps things from happening. What an agent said is no order, whoever's
// login it has.
func Orders(comments []Comment, agents []string) []Command {
	var all []Command
	for _, comment := range comments {
		c, ok := ParseCommand(comment.Body)
		if ok && comment.counts(agents) && comment.may(c.Verb) && (!comment.Edited || c.Verb == Stop) {
			c.ID, c.By, c.At = comment.ID, comment.By, comment.At
			all = append(all, c)
		}
	}
	return all
}

// counts reports whether a comment is a person's, of those who may order anything.
func (c Comment) counts(agents []string) bool {
	return !c.Bot && c.CanPush && !ListsLogin(agents, c.By) && !strings.Contains(c.Body, "<!-- touchstone:")
}

// Unclear is an order that nobody can follow.
type Unclear struct {
	// ID is the comment's, By who wrote it.
	ID int64
	By string
	// Why says what is wrong with it, as a sentence for people.
	Why string
}

// MeantAsOrder reports whether a comment begins as orders do.
func MeantAsOrder(body string) bool { return meant.MatchString(opening(body)) }

var meant = regexp.MustCompile(`(?i)^/touchstone(?:[ \t]|$)`)

// forms are how each order is written.
var forms = []struct {
	verb Verb
	form string
}{
	{AskReview, "/touchstone review"}, {AskFix, "/touchstone fix"}, {Stop, "/touchstone stop"}, {Resume, "/touchstone resume"},
	{Dispute, "/touchstone dispute ID REASON"}, {Waive, "/touchstone waive ID REASON"}, {BreakGlass, "/touchstone break-glass REASON"},
}

// Misunderstood are the comments of people who may give orders that are meant as one and
// yet are none, oldest first. Known are the ids of the findings that there are.
func Misunderstood(comments []Comment, agents []string, known Ledger) []Unclear {
	var all []Unclear
	for _, comment := range comments {
		if !comment.counts(agents) || !MeantAsOrder(comment.Body) {
			continue
		}
		c, ok := ParseCommand(comment.Body)
		why := ""
		switch {
		case !ok:
			why = rightForm(comment.Body)
		case comment.Edited && c.Verb != Stop:
			why = "An edited comment orders nothing, since nobody sees what it said before; give the order in a new one."
		case !comment.may(c.Verb):
			why = fmt.Sprintf("`%s` takes more rights here than you have; ask somebody who maintains the repository.", c.Verb)
		case c.Finding != "" && !slices.ContainsFunc(known, func(e Entry) bool { return e.ID == c.Finding }):
			why = fmt.Sprintf("No finding here has the id `%s`; the ids stand at the findings in the latest review.", c.Finding)
		default:
			continue
		}
		all = append(all, Unclear{ID: comment.ID, By: comment.By, Why: why})
	}
	return all
}

// rightForm says how the order is written that a comment seems to mean.
func rightForm(body string) string {
	words := strings.Fields(strings.ToLower(opening(body)))
	var all []string
	for _, f := range forms {
		if len(words) > 1 && words[1] == string(f.verb) {
			return fmt.Sprintf("It is written `%s`, all of it on the first line.", f.form)
		}
		all = append(all, "`"+f.form+"`")
	}
	return "The orders are " + strings.Join(all, ", ") + ", each on the first line of a comment."
}

// last is the newest of the orders with one of these verbs.
func last(orders []Command, verbs ...Verb) (c Command, ok bool) {
	for _, o := range orders {
		if slices.Contains(verbs, o.Verb) && (!ok || o.ID > c.ID) {
			c, ok = o, true
		}
	}
	return c, ok
}

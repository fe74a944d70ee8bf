package verdict

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// Verb is what a command orders.
type Verb string

// The verbs. Whoever may push may give any of them but the last two, which take
// the right to maintain.
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
	// CanPush and CanMaintain are what its author may do in the repository now.
	CanPush, CanMaintain bool
}

var (
	order     = regexp.MustCompile(`^/touchstone[ \t]+([a-z-]+)(?:[ \t]+(.*))?$`)
	findingID = regexp.MustCompile("^[`#]?([0-9a-f]{8})`?[ \t]+(.*)$")
)

// ParseCommand reads the order that a comment begins with. Only the first line
// counts, so that what is quoted or pasted orders nothing, and it counts whole or
// not at all. ID, By and At are the caller's to add.
func ParseCommand(body string) (c Command, ok bool) {
	line, _, _ := strings.Cut(body, "\n")
	m := order.FindStringSubmatch(strings.TrimSpace(line))
	if m == nil {
		return Command{}, false
	}
	c = Command{Verb: Verb(m[1]), Reason: squeeze(m[2])}
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

// maintains reports whether a command takes more than the right to push.
func (v Verb) maintains() bool { return v == Waive || v == BreakGlass }

// Orders are the commands that count: of people who may give them, in comments
// that nobody edited, oldest first. What an agent said is no order, whoever's
// login it has.
func Orders(comments []Comment, agents []string) []Command {
	var all []Command
	for _, comment := range comments {
		c, ok := ParseCommand(comment.Body)
		switch {
		case !ok, comment.Bot, comment.Edited, !comment.CanPush, c.Verb.maintains() && !comment.CanMaintain:
		case ListsLogin(agents, comment.By), strings.Contains(comment.Body, "<!-- touchstone:"):
		default:
			c.ID, c.By, c.At = comment.ID, comment.By, comment.At
			all = append(all, c)
		}
	}
	return all
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

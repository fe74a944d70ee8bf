package verdict

import (
	"slices"
	"strings"
	"time"

	"touchstone/worktree/lazyregexp"
)

// Verb is what a command orders.
type Verb string

// The verbs. Everyone who may push may give any of them but the last two, for which the
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
	// ID is the comment's: of two commands the later one has the greater. It is 0 for one in a
	// review, whose ids are of another kind.
	ID int64
	// By is who gave it, At when.
	By string
	At time.Time
	// Removed is, of an order to stop, who has edited or deleted the comment that held it or
	// may have held it; "" if only its author has, or nobody.
	Removed string
}

// Comment is a comment on a pull request, with what its author may do there.
type Comment struct {
	ID   int64
	By   string
	At   time.Time
	Body string
	// ByAuthor says that the pull request's author wrote it, or that author's agent. Bot says
	// that no person wrote it, Edited that it is not as it was written, InReview that
	// it is a review's text or stands on a line of the diff.
	ByAuthor, Bot, Edited, InReview bool
	// Changed is who else edited it last, Was what its author had written, each version; a
	// version that GitHub no longer shows is "". Deleted is who else deleted it: what it said
	// is not known, and At is when that happened.
	Changed string
	Was     []string
	Deleted string
	// CanPush is whether its author may push to the repository now, CanWaive and
	// CanBreakGlass whether that is enough to give those orders.
	CanPush, CanWaive, CanBreakGlass bool
	// Independent says that its author is known to have written, committed, co-authored and
	// pushed none of the pull request: people cannot let their own work pass.
	Independent bool
	// Refused says that an agent has seen it while its author might not give the order.
	Refused bool
}

// may reports whether the author of a comment may give an order now.
func (c Comment) may(v Verb) bool {
	switch v {
	case Waive:
		return c.CanPush && c.CanWaive && c.Independent
	case BreakGlass:
		return c.CanPush && c.CanBreakGlass && c.Independent
	}
	return c.CanPush
}

// Overreaches reports whether a person's comment gives an order that its author may not give
// now. To stop is none of them: it only keeps things from happening.
func (c Comment) Overreaches() bool {
	order, ok := ParseCommand(c.Body)
	return ok && order.Verb != Stop && !c.Bot && !c.Edited && !c.InReview && !c.may(order.Verb)
}

// LetsPass reports whether a comment is meant to have something pass that a review objects to,
// which takes that its author had no hand in it.
func LetsPass(body string) bool {
	order, ok := ParseCommand(body)
	return ok && (order.Verb == Waive || order.Verb == BreakGlass)
}

var (
	order     = lazyregexp.New(`^(?i:/touchstone[ \t]+([a-z-]+))[.,:;!]?(?:[ \t]+(.*))?$`)
	findingID = lazyregexp.New("^[`#]?([0-9a-f]{8})`?[ \t]+(.*)$")
	mentions  = lazyregexp.New(`^(?:@[\w/-]+(?:\[bot\])?[,:]?[ \t]+)+`)
)

// ParseCommand reads the order that a comment begins with. Only the first line of its own
// counts, so that what is quoted or pasted orders nothing, and it counts whole or
// not at all; it may be set as code, and begin with whom it is for. To stop is the
// exception: any line of the comment's own that begins with it will do, however it is
// marked, since that only keeps things from happening. ID, By and At are the caller's to add.
func ParseCommand(body string) (c Command, ok bool) {
	if c, ok := parseOrder(opening(body)); ok {
		return c, true
	}
	for line := range ownLines(body) {
		if stopping.MatchString(bare(line)) {
			return Command{Verb: Stop}, true
		}
	}
	return Command{}, false
}

func parseOrder(line string) (c Command, ok bool) {
	line = mentions.ReplaceAllString(line, "")
	if code := strings.Trim(line, "`"); line == "`"+code+"`" && !strings.Contains(code, "`") {
		line = code
	}
	m := order.FindStringSubmatch(line)
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
	c.Reason = Clip(strings.ToValidUTF8(c.Reason, "�"), MaxReason)
	return c, true
}

// Orders are the commands that count: of people who may give them, in unedited comments on the
// conversation, oldest first. An order to stop counts in any comment, since it only keeps
// things from happening. It still counts when another person edits it away, and a comment that
// another person deleted may have been one. What an agent said is no order, even under a
// person's login.
func Orders(comments []Comment, agents []string) []Command {
	var all []Command
	for _, comment := range comments {
		all = append(all, comment.disputes()...)
		if !comment.counts(agents) {
			continue
		}
		c, ok := ParseCommand(comment.Body)
		switch removed := comment.removed(); {
		case removed != "":
			c = Command{Verb: Stop, Removed: removed}
		case !ok || !comment.may(c.Verb) || c.Verb != Stop && (comment.Edited || comment.InReview || comment.Refused):
			continue
		}
		if c.By, c.At = comment.By, comment.At; !comment.InReview {
			c.ID = comment.ID
		}
		all = append(all, c)
	}
	return all
}

// removed is who else has taken an order to stop out of a comment, as far as can be told.
func (c Comment) removed() string {
	stops := func(text string) bool {
		order, ok := ParseCommand(text)
		return text == "" || ok && order.Verb == Stop
	}
	if c.Deleted == "" && slices.ContainsFunc(c.Was, stops) {
		return c.Changed
	}
	return c.Deleted
}

// counts reports whether a comment is a person's, of those who may order anything. What an
// author's agent says under its owner's login ends with its mark; what quotes a mark is a
// person's.
func (c Comment) counts(agents []string) bool {
	text := c.Body
	if len(c.Was) > 0 {
		text = c.Was[0]
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	marked := strings.HasPrefix(lines[len(lines)-1], "<!-- touchstone:")
	return !c.Bot && c.CanPush && !ListsLogin(agents, c.By) && !(marked && c.ByAuthor)
}

// LastOrder is the newest of the orders with one of these verbs. Of two in one second it is the one
// with the greater id, or that from a review, which can only be to stop.
func LastOrder(orders []Command, verbs ...Verb) (c Command, ok bool) {
	for _, o := range orders {
		newer := o.At.After(c.At) || o.At.Equal(c.At) && (o.ID > c.ID && c.ID != 0 || o.ID == 0)
		if slices.Contains(verbs, o.Verb) && (!ok || newer) {
			c, ok = o, true
		}
	}
	return c, ok
}

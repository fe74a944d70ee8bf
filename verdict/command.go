package verdict

import (
	"slices"
	"strings"
	"time"

	"touchstone/worktree/lazyregexp"
)

// Verb is what a command orders.
type Verb string

// The verbs. Anyone with push access may give the first five. For the last two the configuration can require
// more.
const (
	// AskReview orders another review of the head, AskFix another attempt to fix it.
	AskReview Verb = "review"
	AskFix    Verb = "fix"
	// Stop keeps all agents off a pull request, Resume lets them continue.
	Stop   Verb = "stop"
	Resume Verb = "resume"
	// Dispute makes the reviewer judge a finding again, with a reason against it.
	Dispute Verb = "dispute"
	// Waive lets one finding pass. BreakGlass lets a whole head pass as it is.
	Waive      Verb = "waive"
	BreakGlass Verb = "break-glass"
)

// Command is an order that a person gave in a comment.
type Command struct {
	Verb Verb
	// Finding is the id of the finding that a Dispute or Waive is about.
	Finding string
	// Reason is the rest of the line. Only [Dispute], [Waive] and [BreakGlass] have one.
	Reason string
	// ID is the comment's id: the later of two commands has the greater one. It is 0 for a command in a
	// review, since the ids of reviews are a sequence of their own.
	ID int64
	// By is who gave the command, At is when.
	By string
	At time.Time
	// Removed is for an order to stop: who edited or deleted the comment that held it, or may have held it.
	// It is "" if only the comment's author did so, or nobody did.
	Removed string
}

// Comment is a comment on a pull request, and what its author may do there.
type Comment struct {
	ID   int64
	By   string
	At   time.Time
	Body string
	// ByAuthor says that the pull request's author, or that author's agent, wrote it. Bot says that no person
	// wrote it. Edited says that it was changed since. InReview says that it is the text of a review or
	// stands on a line of the diff.
	ByAuthor, Bot, Edited, InReview bool
	// Changed is the other person who edited it last. Was is each version that its author wrote; a version
	// that GitHub no longer shows is "". Deleted is the other person who deleted it: its text is then
	// unknown, and At is the time of the deletion.
	Changed string
	Was     []string
	Deleted string
	// CanPush says whether its author may push to the repository now. CanWaive and CanBreakGlass say whether
	// that is enough for those orders.
	CanPush, CanWaive, CanBreakGlass bool
	// Independent says that its author is known to have written, committed, co-authored and pushed no part of
	// the pull request: people cannot let their own work pass.
	Independent bool
	// Refused says that an agent read it at a time when its author had no right to give the order.
	Refused bool
}

// may reports whether the author of the comment may give an order now.
func (c Comment) may(v Verb) bool {
	switch v {
	case Waive:
		return c.CanPush && c.CanWaive && c.Independent
	case BreakGlass:
		return c.CanPush && c.CanBreakGlass && c.Independent
	}
	return c.CanPush
}

// Overreaches reports whether a person's comment gives an order that its author may not give now. An order to
// stop never does: it only prevents things.
func (c Comment) Overreaches() bool {
	order, ok := ParseCommand(c.Body)
	return ok && order.Verb != Stop && !c.Bot && !c.Edited && !c.InReview && !c.may(order.Verb)
}

// LetsPass reports whether a comment orders that something a review objects to may pass. Only somebody who
// had no part in the change may order that.
func LetsPass(body string) bool {
	order, ok := ParseCommand(body)
	return ok && (order.Verb == Waive || order.Verb == BreakGlass)
}

var (
	order     = lazyregexp.New(`^(?i:/touchstone[ \t]+([a-z-]+))[.,:;!]?(?:[ \t]+(.*))?$`)
	findingID = lazyregexp.New("^[`#]?([0-9a-f]{8})`?[ \t]+(.*)$")
	mentions  = lazyregexp.New(`^(?:@[\w/-]+(?:\[bot\])?[,:]?[ \t]+)+`)
)

// ParseCommand reads the order that a comment begins with. The caller sets ID, By and At.
//
// Only the first line that is the comment's own counts, so quoted or pasted text orders nothing. The line
// counts whole or not at all. It may be formatted as code, and may begin with mentions. An order to stop is
// the exception, since it only prevents things: any line of the comment's own that begins with it counts,
// with any Markdown marks before it.
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
	c = Command{Verb: Verb(strings.ToLower(m[1])), Reason: OneLine(m[2])}
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
		if Weight(c.Reason) == 0 {
			return Command{}, false
		}
	default:
		return Command{}, false
	}
	c.Reason = Clip(strings.ToValidUTF8(c.Reason, "�"), MaxReason)
	return c, true
}

// Orders are the commands that count, oldest first: given by people who may give them, in unedited comments
// on the conversation. An order to stop counts in any comment, since it only prevents things. It still counts
// after another person edited it away, and a comment that another person deleted counts as one, since it may
// have been one. Text by an agent is no order, even under a person's login.
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

// removed is the other person who took an order to stop out of a comment, as far as can be known.
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

// counts reports whether a person wrote the comment who may give orders at all. A comment that the author's
// agent posts under its owner's login ends with the agent's mark. A comment that only quotes such a mark is a
// person's.
func (c Comment) counts(agents []string) bool {
	text := c.Body
	if len(c.Was) > 0 {
		text = c.Was[0]
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	marked := strings.HasPrefix(lines[len(lines)-1], markOpen)
	return !c.Bot && c.CanPush && !ListsLogin(agents, c.By) && !(marked && c.ByAuthor)
}

// LastOrder is the newest order with one of these verbs. If two were given in the same second, it is the one
// with the greater id, or the one from a review, which can only be an order to stop.
func LastOrder(orders []Command, verbs ...Verb) (c Command, ok bool) {
	for _, o := range orders {
		newer := o.At.After(c.At) || o.At.Equal(c.At) && (o.ID > c.ID && c.ID != 0 || o.ID == 0)
		if slices.Contains(verbs, o.Verb) && (!ok || newer) {
			c, ok = o, true
		}
	}
	return c, ok
}

package verdict

import (
	"fmt"
	"html"
	"iter"
	"strings"
	"unicode"

	"touchstone/worktree/lazyregexp"
)

// Unclear is an order that cannot be followed.
type Unclear struct {
	// ID is the comment's id. By is its author.
	ID int64
	By string
	// Why is a sentence for people that says what is wrong with the order.
	Why string
}

// forms are the ways to write the orders.
var forms = []struct {
	verb Verb
	form string
}{
	{AskReview, "/touchstone review"}, {AskFix, "/touchstone fix"}, {Stop, "/touchstone stop"}, {Resume, "/touchstone resume"},
	{Dispute, "/touchstone dispute ID REASON"}, {Waive, "/touchstone waive ID REASON"}, {BreakGlass, "/touchstone break-glass REASON"},
}

// Misunderstood are the comments, oldest first, that look like orders, are by people who may give orders, and
// yet do not count. Argument known holds the existing findings.
func Misunderstood(comments []Comment, agents []string, known Ledger) []Unclear {
	var all []Unclear
	for _, comment := range comments {
		if !comment.counts(agents) || !MeantAsOrder(comment.Body) || comment.removed() != "" {
			continue
		}
		c, ok := ParseCommand(comment.Body)
		why := ""
		switch {
		case !ok:
			why = rightForm(comment.Body)
		case c.Verb == Stop:
			continue
		case comment.InReview:
			why = "An order counts only in a comment on the conversation, not in a review or on a line; give it there."
		case comment.Edited:
			why = "An edited comment gives no order, since nobody sees what it said before; give the order in a new comment."
		case !comment.may(c.Verb) && (c.Verb == Waive && comment.CanWaive || c.Verb == BreakGlass && comment.CanBreakGlass):
			why = fmt.Sprintf("`%s` counts only from someone who wrote and pushed no part of this pull request; ask someone else who maintains "+
				"the repository.", c.Verb)
		case !comment.may(c.Verb):
			why = fmt.Sprintf("`%s` needs more rights here than you have; ask someone who maintains the repository.", c.Verb)
		case comment.Refused:
			why = "An agent read this order when you had no right to give it; give it again in a new comment."
		case c.Finding != "" && known.ByID(c.Finding) == nil:
			why = fmt.Sprintf("No finding here has the id `%s`; the latest review shows the id of each finding.", c.Finding)
		default:
			continue
		}
		all = append(all, Unclear{ID: comment.ID, By: comment.By, Why: why})
	}
	return all
}

// rightForm says how to write the order that a comment seems to mean.
func rightForm(body string) string {
	verb := ""
	for line := range ownLines(body) {
		if m := meant.FindStringSubmatch(bare(line)); m != nil && verb == "" {
			verb = strings.ToLower(m[1])
		}
	}
	var all []string
	for _, f := range forms {
		if verb == string(f.verb) {
			return fmt.Sprintf("Write `%s`, all of it on the first line of a comment.", f.form)
		}
		all = append(all, "`"+f.form+"`")
	}
	return "The orders are " + strings.Join(all, ", ") + ", each on the first line of a comment."
}

var (
	meant    = lazyregexp.New(`(?i)^/touchstone(?:[^a-z0-9-]+([a-z-]*)|$)`)
	stopping = lazyregexp.New(`(?i)^/touchstone[^a-z0-9/-]+stop(?:[^a-z0-9-]|$)`)
	// passing matches an order to stop with other text before it.
	passing = lazyregexp.New(`(?i)(?:^|[ \t])/touchstone[ \t]+stop(?:[^a-z0-9-]|$)`)
	// marks matches what Markdown and people put before an order.
	marks = lazyregexp.New("^(?:@[\\w/-]+(?:\\[bot\\])?[,:]?[ \\t]+|[-+*][ \\t]+|[0-9]+[.)][ \\t]+|#+[ \\t]+|[*_~`])+")
)

// MeantAsOrder reports whether one of the comment's own lines begins like an order, or its first own line
// contains an order to stop.
func MeantAsOrder(body string) bool {
	for line := range ownLines(body) {
		if meant.MatchString(bare(line)) {
			return true
		}
	}
	return passing.MatchString(opening(body))
}

// opening is the first line of a comment that is neither empty nor quoted, since GitHub's "Quote reply" puts
// quoted lines first. It is empty if there is none.
func opening(body string) string {
	for line := range strings.Lines(body) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, ">") {
			return line
		}
	}
	return ""
}

// ownLines are the lines of a comment that are neither quoted nor in a code block.
func ownLines(body string) iter.Seq[string] {
	return func(yield func(string) bool) {
		fence := ""
		for line := range strings.Lines(body) {
			line = strings.TrimSpace(line)
			switch {
			case fence != "":
				if strings.HasPrefix(line, fence) {
					fence = ""
				}
			case strings.HasPrefix(line, "```"), strings.HasPrefix(line, "~~~"):
				fence = line[:3]
			case line != "" && !strings.HasPrefix(line, ">"):
				if !yield(line) {
					return
				}
			}
		}
	}
}

// bare is a line without invisible characters and without the marks at its start.
func bare(line string) string {
	line = strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Cf, r):
			return -1
		case unicode.IsSpace(r):
			return ' '
		}
		return r
	}, html.UnescapeString(line))
	return marks.ReplaceAllString(strings.TrimSpace(line), "")
}

package verdict

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"time"

	"touchstone/worktree/lazyregexp"
)

// The marks by which the product recognises its own comments. Each is an HTML comment on a line of its own at
// the end of the text, and GitHub does not show it. A mark that any version wrote is read for good: pull
// requests live longer than versions.
const (
	markOpen  = "<!-- touchstone:"
	markClose = " -->"

	shaForm = `[0-9a-f]{7,64}`
	// GitHub's names of branches have at most 255 bytes, each of which becomes three when it is escaped.
	callForm     = `escalation (?:v1 (` + shaForm + `)|v2 (` + shaForm + `) (` + shaForm + `|-) ([A-Za-z0-9%+_.~-]{1,765}))`
	restForm     = `rest v1 (` + shaForm + `) until ([0-9TZ:+-]{20,25})`
	waitingForm  = `waiting v1 (` + shaForm + `) ([a-z-]{1,20})`
	replyForm    = `reply v1 [0-9]{1,20}`
	answerForm   = `answer v1`
	mergeForm    = `merge v1 ` + shaForm
	disputesForm = `disputes v1 ` + shaForm
)

var (
	callMark     = markOf(callForm)
	restMark     = markOf(restForm)
	waitingMark  = markOf(waitingForm)
	answerMark   = markOf(answerForm, waitingForm)
	disputesMark = markOf(disputesForm)
	anyMark      = markOf(callForm, restForm, waitingForm, replyForm, answerForm, mergeForm, disputesForm)
)

func markOf(forms ...string) *lazyregexp.Regexp {
	return lazyregexp.New(`(?m)^` + markOpen + `(?:` + strings.Join(forms, "|") + `)` + markClose + `$`)
}

// markIn returns the first mark of a form in a text, with its groups; nil without one. The pattern is tried only
// on lines that begin as a mark does, because texts are long and read at every look.
func markIn(text string, form *lazyregexp.Regexp) []string {
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, markOpen) {
			if m := form.FindStringSubmatch(line); m != nil {
				return m
			}
		}
	}
	return nil
}

func mark(format string, args ...any) string {
	return markOpen + fmt.Sprintf(format, args...) + markClose
}

// Call is what a person is called for: a head and its base. Calls by earlier versions name neither the base's
// commit nor its branch.
type Call struct{ Head, Base, Branch string }

// Mark ends the comment that calls a person.
func (c Call) Mark() string {
	return mark("escalation v2 %s %s %s", c.Head, cmp.Or(c.Base, "-"), url.QueryEscape(c.Branch))
}

// CallIn returns the call in a comment, if there is one.
func CallIn(body string) (c Call, ok bool) {
	m := markIn(body, callMark)
	if m == nil {
		return Call{}, false
	}
	branch, err := url.QueryUnescape(m[4])
	return Call{Head: cmp.Or(m[1], m[2]), Base: m[3], Branch: branch}, err == nil
}

// RestMark ends the comment that calls a person to a head because a day's budget is spent, until the next
// day.
func RestMark(head string, until time.Time) string {
	return mark("rest v1 %s until %s", head, until.Format(time.RFC3339))
}

// RestIn returns the head of such a call in a comment, and until when the agents rest.
func RestIn(body string) (head string, until time.Time, ok bool) {
	m := markIn(body, restMark)
	if m == nil {
		return "", time.Time{}, false
	}
	until, err := time.Parse(time.RFC3339, m[2])
	return m[1], until, err == nil
}

// WaitingMark ends the comment that tells an author that a head waits for them. The topic says why, in one
// lower-case word.
func WaitingMark(head, topic string) string { return mark("waiting v1 %s %s", head, topic) }

// WaitingIn returns the head and the topic of such a comment.
func WaitingIn(body string) (head, topic string, ok bool) {
	m := markIn(body, waitingMark)
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}

// ReplyMark ends the answer to the order in a comment.
func ReplyMark(order int64) string { return mark("reply v1 %d", order) }

// AnswerMark ends an answer of the author's agent in the thread of a finding.
const AnswerMark = markOpen + answerForm + markClose

// Answers reports whether a comment in the thread of a finding is the author's agent's: an answer, or the
// notice that an edit could not be applied.
func Answers(body string) bool { return markIn(body, answerMark) != nil }

// MergeMark ends the call of a person to a merge commit that is not what was approved.
func MergeMark(merge string) string { return mark("merge v1 %s", merge) }

// DisputesMark ends the comment that disputes findings of the review of a head.
func DisputesMark(head string) string { return mark("disputes v1 %s", head) }

// WithoutMarks returns a text without the marks in it; its lines keep their numbers. A copy of a mark in
// exactly the form that the product writes is harmless.
func WithoutMarks(text string) string { return anyMark.ReplaceAllString(text, "") }

// Unmarked returns a comment without the marks in it. own reports whether it ends in a mark, so that no person
// wrote it.
func Unmarked(comment string) (text string, own bool) {
	comment = strings.TrimSpace(strings.ReplaceAll(comment, "\r\n", "\n"))
	last := comment[strings.LastIndexByte(comment, '\n')+1:]
	return strings.TrimSpace(WithoutMarks(comment)), anyMark.MatchString(last)
}

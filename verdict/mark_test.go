package verdict_test

import (
	"strings"
	"testing"
	"time"

	"touchstone/verdict"
)

const markedHead = "0123456789012345678901234567890123456789"

// TestEveryMarkIsReadAsItIsWritten also reads the marks of earlier versions.
func TestEveryMarkIsReadAsItIsWritten(t *testing.T) {
	longest := strings.Repeat("ü", 127) + "x" // 255 bytes
	until := time.Date(2026, 1, 2, 0, 0, 0, 0, time.FixedZone("", 3600))
	for name, mark := range map[string]string{
		"a call":                     verdict.Call{Head: markedHead, Base: markedHead, Branch: "release/1.x"}.Mark(),
		"a call without a base":      verdict.Call{Head: markedHead, Branch: "main"}.Mark(),
		"a call on a long branch":    verdict.Call{Head: markedHead, Base: markedHead, Branch: longest}.Mark(),
		"a call of an older version": "<!-- touchstone:escalation v1 0123456 -->",
		"a rest":                     verdict.RestMark(markedHead, until),
		"a rest in UTC":              verdict.RestMark(markedHead, until.UTC()),
		"a notice":                   verdict.WaitingMark(markedHead, "unapplied"),
		"a reply":                    verdict.ReplyMark(1<<63 - 1),
		"an answer":                  verdict.AnswerMark,
		"a merge":                    verdict.MergeMark(markedHead),
		"a dispute":                  verdict.DisputesMark(markedHead),
	} {
		if text, own := verdict.Unmarked("A text.\r\n\r\n" + mark + "\r\n"); text != "A text." || !own {
			t.Errorf("%s leaves %q of its comment (its own: %t)", name, text, own)
		}
		if _, own := verdict.Unmarked(mark + "\nA person's text."); own {
			t.Errorf("%s makes what a person writes below it the product's own", name)
		}
		for _, altered := range []string{"> " + mark, mark + " more", strings.Replace(mark, " -->", " more -->", 1)} {
			if text, own := verdict.Unmarked(altered); text != altered || own {
				t.Errorf("%q is taken for the product's own mark", altered)
			}
		}
	}
	call := verdict.Call{Head: markedHead, Base: "0123456", Branch: longest}
	if got, ok := verdict.CallIn("Text.\n" + call.Mark() + "\n" + verdict.MergeMark(markedHead)); !ok || got != call {
		t.Errorf("a call is read as %+v, %t", got, ok)
	}
	if got, ok := verdict.CallIn("<!-- touchstone:escalation v1 0123456 -->"); !ok || got != (verdict.Call{Head: "0123456"}) {
		t.Errorf("an older version's call is read as %+v, %t", got, ok)
	}
	if head, at, ok := verdict.RestIn(verdict.RestMark(markedHead, until)); !ok || head != markedHead || !at.Equal(until) {
		t.Errorf("a rest is read as %s until %s, %t", head, at, ok)
	}
	if head, topic, ok := verdict.WaitingIn(verdict.WaitingMark(markedHead, "checks")); !ok || head != markedHead || topic != "checks" {
		t.Errorf("a notice is read as %s, %s, %t", head, topic, ok)
	}
	if !verdict.Answers(verdict.AnswerMark) || !verdict.Answers(verdict.WaitingMark(markedHead, "unapplied")) ||
		verdict.Answers(verdict.ReplyMark(1)) {
		t.Error("an answer in a thread is not told from another comment")
	}
}

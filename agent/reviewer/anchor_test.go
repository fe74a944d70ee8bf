package reviewer_test

import (
	"fmt"
	"strings"
	"testing"

	"touchstone/agent/e2e/loopback"
	"touchstone/agent/reviewer"
	"touchstone/verdict"
)

// TestFindingsStandOnLinesOfTheHead: the session reads the merge, and GitHub takes comments on
// lines of the head, which are others where the base went on.
func TestFindingsStandOnLinesOfTheHead(t *testing.T) {
	t.Parallel()
	text := func(top, edit string) string {
		var b strings.Builder
		b.WriteString(top)
		for i := 1; i <= 40; i++ {
			if i == 20 {
				b.WriteString(edit)
				continue
			}
			fmt.Fprintf(&b, "line %d\n", i)
		}
		return b.String()
	}
	g, ref := opened(t, map[string]string{"code.txt": text("", "old()\n")}, map[string]string{"code.txt": text("", "unsafe()\n")})
	g.Commit("main", "Go on", map[string]string{"code.txt": text("base\nbase\n", "old()\n")})
	g.Read(loopback.Judge, ref)
	f := finding(1)
	f.Line, f.Quote = 22, "unsafe()"
	var seen string
	r := newReviewer(t, g, func(asked loopback.Asked) (string, error) {
		seen = asked.Dir
		return answering(f)(asked)
	})
	out, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{})
	if err != nil || seen == "" {
		t.Fatal(err)
	}
	if e := out.Record.Ledger; len(e) != 1 || e[0].Line != 22 {
		t.Errorf("the record has %+v", e)
	}
	if c := out.Review.Comments; len(c) != 1 || c[0].Path != "code.txt" || c[0].Line != 20 || c[0].Side != "RIGHT" {
		t.Errorf("the comments are %+v, in the body %s", c, out.Review.Body)
	}
	if out.Record.Tree == "" || out.Record.Verdict != verdict.RequestChanges {
		t.Errorf("the record is %+v", out.Record)
	}
}

// TestAFindingAboutRemovedLinesStandsBesideThem covers findings for which the head has no line to comment on.
func TestAFindingAboutRemovedLinesStandsBesideThem(t *testing.T) {
	t.Parallel()
	text := func(guard string) string {
		return strings.Repeat("before()\n", 30) + guard + "act()\n" + strings.Repeat("after()\n", 30)
	}
	g, ref := opened(t, map[string]string{"code.txt": text("if !allowed {\n\treturn errDenied\n}\n")}, map[string]string{"code.txt": text("")})
	f := finding(0)
	f.Line, f.Quote, f.Suggestion = 0, "-if !allowed {\n-\treturn errDenied\n-}", ""
	r := newReviewer(t, g, answering(f))
	out, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := out.Review.Comments
	if len(c) != 1 || c[0].Line != 31 || c[0].Side != "RIGHT" || !strings.Contains(c[0].Body, "lines that the change removes here") {
		t.Errorf("the comments are %+v, in the body %s", c, out.Review.Body)
	}
	if e := out.Record.Ledger; len(e) != 1 || e[0].Line != 0 {
		t.Errorf("the record has %+v", e)
	}
}

package reviewer_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"touchstone/agent/e2e/loopback"
	"touchstone/agent/reviewer"
	"touchstone/guidelines"
	"touchstone/verdict"
)

// TestALaterRoundSeesEarlierFindingsWhole: why they matter, what was suggested and how to tell
// that they are gone, of those on a line and of those in the body of the review. The comment
// quotes the row, with its place where the repository wrote it.
func TestALaterRoundSeesEarlierFindingsWhole(t *testing.T) {
	t.Parallel()
	const path = ".touchstone/guidelines/security.md"
	g, ref := opened(t, map[string]string{"README.md": "one\n",
		path: strings.Replace(fmt.Sprintf(ownRules, "The law of the base."), "S1", "S3", 1)},
		map[string]string{"code.txt": "unsafe()\n"})
	placed, whole := finding(1), finding(0)
	placed.Why, placed.Suggestion, placed.Verify = "It costs a day.", "Call the other one.", "Run it twice."
	whole.Path, whole.Quote, whole.Claim, whole.Why = "", "", "The change lacks a plan.", "Nobody can go back."
	out, pr := review(t, g, ref, placed, whole)
	if len(pr.Threads) != 1 {
		t.Fatalf("the threads are %+v", pr.Threads)
	}
	link := fmt.Sprintf("**The rule:** The law of the base. ([security/S3](%s/acme/app/blob/%s/%s#L", g.URL, pr.Base.SHA, path)
	if comment := pr.Threads[0].Comments[0].Body; !strings.Contains(comment, link) || !strings.Contains(out.Review.Body, link) {
		t.Errorf("the row is not quoted as %s:\n%s", link, comment)
	}
	asked := ""
	r := newReviewer(t, g, func(r loopback.Asked) (string, error) {
		asked = r.Prompt
		return answering(placed, whole)(r)
	})
	g.Commit("topic", "Go on", map[string]string{"other.txt": "more\n"})
	if _, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{DryRun: true}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"It costs a day.", "Call the other one.", "Run it twice.", "Nobody can go back."} {
		if strings.Count(asked, want) != 1 {
			t.Errorf("the second round is told %d times of %q", strings.Count(asked, want), want)
		}
	}
	if strings.Contains(asked, "touchstone:state") || strings.Contains(asked, "<sub>") {
		t.Error("what is hidden in the first review is shown to the second session")
	}
}

// TestAnApprovalSaysHowCIStands at the time at which it is posted, carried over or not.
func TestAnApprovalSaysHowCIStands(t *testing.T) {
	t.Parallel()
	g, ref := opened(t, plain, map[string]string{"code.txt": "fine()\n"})
	report := func(state string) {
		head := g.Read(loopback.Judge, ref).Head.SHA
		g.Call(loopback.Root, http.MethodPost, "statuses/"+head, map[string]any{"state": state, "context": "build"}, nil)
	}
	report("pending")
	out, err := newReviewer(t, g, answering()).Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{DryRun: true})
	if err != nil || !strings.HasPrefix(out.Review.Body, "### Approved · round 1 · nothing found · CI pending\n") {
		t.Errorf("%v\n%s", err, out.Review.Body)
	}
	out, err = newReviewer(t, g, func(r loopback.Asked) (string, error) {
		report("success") // while the session is at work
		return answering()(r)
	}).Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{})
	if err != nil || !strings.HasPrefix(out.Review.Body, "### Approved · round 1 · nothing found · CI green\n") {
		t.Errorf("%v\n%s", err, out.Review.Body)
	}
	report("failure")
	out, err = newReviewer(t, g, answering(finding(1))).Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{DryRun: true})
	if err != nil || out.Record.Verdict != verdict.RequestChanges || strings.Contains(out.Review.Body, "CI") {
		t.Errorf("%v\n%s", err, out.Review.Body)
	}
}

// TestARowIsLinkedToWhereItIsWritten checks that a cited built-in row is linked to the configured address, if there is
// one, and a row of the repository or of an organization never is.
func TestARowIsLinkedToWhereItIsWritten(t *testing.T) {
	t.Parallel()
	const ours = ".touchstone/guidelines/ours.md"
	const table = "# Ours\n\n| ID | Severity | Scope | Criterion |\n| --- | --- | --- | --- |\n"
	g, ref := opened(t, map[string]string{ours: table + "| ours/O1 | minor | all | No tabs. |\n"}, map[string]string{"code.txt": "unsafe()\n"})
	own, amended := finding(1), finding(1)
	own.Rule, amended.Rule = "ours/O1", "security/S4"
	body := func(pages string) string {
		r := newReviewer(t, g, answering(finding(1), own, amended))
		r.Pages = pages
		r.Layer = func(context.Context) (map[string]string, error) {
			return map[string]string{"org": table + "| security/S4 | major | all | Nothing private is logged. |\n"}, nil
		}
		out, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{DryRun: true})
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, c := range out.Review.Comments {
			text += c.Body + "\n"
		}
		return text
	}
	rules, err := guidelines.Default()
	if err != nil {
		t.Fatal(err)
	}
	row, _ := rules.Row("security/S3")
	link := fmt.Sprintf("([security/S3](https://wiki.acme.dev/docs/security.md#L%d))", row.Line)
	for pages, want := range map[string]bool{"": false, "https://wiki.acme.dev/docs": true, "https://wiki.acme.dev/docs/": true} {
		text := body(pages)
		if strings.Contains(text, link) != want || strings.Contains(text, "[security/S3](") != want ||
			strings.Contains(text, "[security/S4](") || !strings.Contains(text, "Nothing private is logged.") {
			t.Errorf("with %q, want %s: %t\n%s", pages, link, want, text)
		}
		if !strings.Contains(text, "/"+ours+"#L5)") || strings.Contains(text, "wiki.acme.dev/docs/ours.md") {
			t.Errorf("with %q, the repository's own row is not linked to its place:\n%s", pages, text)
		}
	}
}

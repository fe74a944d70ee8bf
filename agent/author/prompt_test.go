package author

import (
	"fmt"
	"strings"
	"testing"

	"touchstone/agent/forge"
)

func TestThePromptIsBounded(t *testing.T) {
	t.Parallel()
	b := brief{fence: "fence", review: strings.Repeat("x", 1<<20), body: strings.Repeat("x", 1<<20)}
	long := strings.Repeat("y", 10_000)
	for i := range 20_000 {
		b.failed = append(b.failed, forge.FailedCheck{Name: fmt.Sprintf("check %d", i), Text: long})
	}
	b.history = map[string][]quotation{}
	for i := range 100 {
		e := open(fmt.Sprintf("%08x", i))
		b.ledger = append(b.ledger, e)
		for range 1_000 {
			b.history[e.ID] = append(b.history[e.ID], quotation{"answer", long})
		}
	}
	b.changes = strings.Repeat("+\n", 1<<20)
	for i := range maxConflicts {
		patch := []byte(strings.Repeat("+\n", 1<<10))
		b.conflicts = append(b.conflicts, conflict{path: fmt.Sprintf("%0200d.go", i), branch: patch, base: patch, unmarked: true})
	}
	prompt := b.prompt()
	if len(prompt) > 1<<20 {
		t.Errorf("the prompt has %d bytes", len(prompt))
	}
	for _, want := range []string{"more texts about findings are left out", "more failed checks are left out", "more of these are in"} {
		if !strings.Contains(prompt, want) {
			t.Errorf("it does not say %q", want)
		}
	}
}

// named are conflicts of which nobody shows the sides.
func named(paths []string) (conflicts []conflict) {
	for _, path := range paths {
		conflicts = append(conflicts, conflict{path: path})
	}
	return conflicts
}

func TestThePromptForThreeFindingsIsShort(t *testing.T) {
	t.Parallel()
	b := brief{
		fence: strings.Repeat("f", 33), body: strings.Repeat("x", 1_000), review: strings.Repeat("x", 500), history: map[string][]quotation{},
		allow: make([]string, 40), conventions: []string{"AGENTS.md", ".github/CONTRIBUTING.md"}, verify: []string{"make", "check"},
		subjects: make([]string, 8),
	}
	for i := range b.allow {
		b.allow[i] = "go test *"
	}
	for i := range 3 {
		e := open(fmt.Sprintf("%08x", i))
		b.ledger = append(b.ledger, e)
		b.history[e.ID] = []quotation{{"finding " + e.ID + " when it was raised", strings.Repeat("x", 1_500)}}
	}
	if n := len(b.prompt()); n > 12<<10 {
		t.Errorf("it has %d bytes", n)
	}
}

func TestWhatAReviewSaysIsToldWithoutItsRecord(t *testing.T) {
	t.Parallel()
	body := "### Changes requested · round 2\n\nIt races.\n\n#### Still there from earlier rounds\n\n- **[Test] minor** " +
		"x\n\n---\n`a.go`\n\n**[Doc] nit** · finding `0badcafe`\n\nIt is wrong.\n\n<details><summary>1 " +
		"merged</summary>\n\nx\n\n</details>\n\n<sub>tokens</sub>\n\n<!-- touchstone:state v1 {} -->\n<!-- VERDICT:REQUEST_CHANGES -->"
	if got := summary(body); got != "### Changes requested · round 2\n\nIt races." {
		t.Errorf("it is told as %q", got)
	}
	later := "### Changes requested · round 3\n\n#### Still there from earlier rounds\n\n- **[Doc] nit** [finding `0badcafe`](https://x) " +
		"at `a.go:3`: Still wrong. (open since round 2)\n\n<sub>tokens</sub>"
	review := func(body string) forge.SubmittedReview {
		return forge.SubmittedReview{Author: forge.User{Login: "judge"}, Body: body}
	}
	pr := forge.PullRequest{Reviews: []forge.SubmittedReview{review(body), review(later)}}
	said := (&Author{Reviewers: []string{"Judge"}}).statements(pr, nil)["0badcafe"]
	if len(said) != 2 || said[0].text != "**[Doc] nit** · finding `0badcafe`\n\nIt is wrong." ||
		!strings.HasSuffix(said[1].text, "Still wrong. (open since round 2)") {
		t.Errorf("the finding is told as %+v", said)
	}
}

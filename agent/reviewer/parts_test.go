package reviewer_test

import (
	"fmt"
	"strings"
	"testing"

	"touchstone/agent/e2e/loopback"
	"touchstone/agent/reviewer"
	"touchstone/verdict"
)

// TestASessionIsAskedOnceMoreForAllParts, and not for each: a model that answers
// none of them well costs one turn more, and no approval.
func TestASessionIsAskedOnceMoreForAllParts(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 4 {
		files[fmt.Sprintf("store/file%d.txt", i)] = strings.Repeat("a line of ordinary length\n", 4_000)
	}
	g, ref := opened(t, plain, files)
	var asked []string
	r := newReviewer(t, g, func(r loopback.Asked) (string, error) {
		what := "once more"
		if strings.Contains(r.Prompt, "# Changed files") {
			what = "a part"
		}
		asked = append(asked, what)
		text, err := answering()(r)
		return strings.ReplaceAll(text, "VERDICT", "VERDIKT"), err
	})
	out, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{})
	if err != nil || out.Record.Verdict != verdict.RequestChanges || out.Record.Settled {
		t.Fatalf("%s, settled: %v, %v", out.Record.Verdict, out.Record.Settled, err)
	}
	if got := strings.Join(asked, ", "); !strings.HasPrefix(got, "a part, once more, a part") || strings.Count(got, "once more") != 1 {
		t.Errorf("asked %s", got)
	}
}

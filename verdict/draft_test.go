package verdict_test

import (
	"strings"
	"testing"

	"touchstone/verdict"
)

func TestReadDraft(t *testing.T) {
	t.Parallel()
	const row = `{"severity": "nit", "scope": "code", "criterion": "One\n  line.", "reason": "So."}`
	answer := func(data, nonce string) string {
		return "They are alike.\n\n```" + verdict.Fence + "\n" + data + "\n```\n" + verdict.RunLine(nonce) + "\n"
	}
	if d, err := verdict.ReadDraft(answer(row, "n1"), "n1"); err != nil || d.Criterion != "One line." || d.Severity != "nit" {
		t.Errorf("%v, %+v", err, d)
	}
	for name, text := range map[string]string{
		"another run's":    answer(row, "n2"),
		"no nonce":         strings.TrimSuffix(answer(row, "n1"), verdict.RunLine("n1")+"\n"),
		"text after it":    answer(row, "n1") + "More.\n",
		"twice":            answer(strings.Replace(row, "{", `{"severity": "major", `, 1), "n1"),
		"without a reason": answer(strings.Replace(row, "So.", " ", 1), "n1"),
		"a long criterion": answer(strings.Replace(row, "line.", strings.Repeat("x", 2000), 1), "n1"),
		"no block":         "A row.\n" + verdict.RunLine("n1") + "\n",
	} {
		if d, err := verdict.ReadDraft(text, "n1"); err == nil {
			t.Errorf("%s: %+v is read", name, d)
		}
	}
}

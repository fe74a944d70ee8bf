package verdict

import (
	"strings"
	"testing"
)

func TestExcuses(t *testing.T) {
	for _, text := range []string{
		"It follows the existing pattern of the other handlers.",
		"A pre-existing issue, so not held against this change.",
		"The missing check can be added in a separate PR.",
		"Should be done in a follow-up pull request.",
		"This can be fixed later.",
		"We can clean this up later.",
		"Error handling will be improved incrementally.",
		"The other call sites are out of scope.",
		"Outside the scope of this change.",
		"Not a blocker; the author left a TODO for it.",
		"No blocker, a follow-up PR will do.",
		"Better in the next session.",
		"It can be hardened later.",
		"The input is validated later on.",
		"This can be tightened incrementally.",
		"There is a TODO for it in the code.",
		"Good enough for now.",
		"The same pattern exists elsewhere, so it is fine.",
		"It follows the existing style of the file.",
		"Consistent with surrounding code, so not reported.",
		"Deferred to the next sprint.",
		"That belongs in its own PR.",
		"A dedicated PR will do it.",
		"Only internal, so it is acceptable.",
		"I found no blocker and left it as an existing pattern.",
	} {
		if excuseIn(text) == "" {
			t.Errorf("no excuse in %q", text)
		}
	}
	for _, text := range []string{
		"",
		"Nothing is out of scope of the description.",
		"No TODO or FIXME was added.",
		"The change leaves nothing for a later pull request.",
		"It never defers to a separate PR.",
		`The description says "to be fixed in a separate PR", but it is all here.`,
		"The comment `// TODO: fix this later` is gone.",
		"> out of scope\nwas said by somebody else",
		"As the file says:\n```\nfixed in a follow-up PR\n```\nwhich is not so.",
		"The lock is taken later than the read.",
		"Later commits of this branch repair the first one.",
		"Pattern matching covers the existing cases.",
		"No finding depends on a later pull request.",
		"The rename stands in its own commit.",
		"The names are those of the surrounding code.",
		"The same test runs on both systems.",
		"The sum is computed eventually, and once.",
	} {
		if got := excuseIn(text); got != "" {
			t.Errorf("%q is taken for an excuse in %q", got, text)
		}
	}
}

func TestExcusesRaiseDoubts(t *testing.T) {
	lowered := finding(Nit)
	lowered.Rule, lowered.Why = "security/S4", "An existing pattern."
	for name, change := range map[string]func(*Answer){
		"summary":   func(a *Answer) { a.Summary = "Good, the rest can be done in a follow-up PR." },
		"dimension": func(a *Answer) { a.Dimensions[4].Examined = "README is stale, but out of scope" },
		"lowered":   func(a *Answer) { a.Findings = []Finding{lowered} },
	} {
		a := walked()
		change(&a)
		j := Judge(block(encode(t, a))+closing(Approve), nonce, grounded())
		if all := strings.Join(j.Doubts, "\n"); j.Verdict != RequestChanges || !strings.Contains(all, "which is no reason") {
			t.Errorf("%s: %s, doubts %q", name, j.Verdict, all)
		}
	}
	if j := Judge("## [Test]\nFine, a later PR adds some.\n"+block(encode(t, walked()))+closing(Approve), nonce, grounded()); j.Verdict == Approve {
		t.Error("an excuse in the prose passed")
	}
	a := walked()
	a.Findings = []Finding{finding(Nit)}
	a.Findings[0].Why = "An existing pattern."
	if j := Judge(block(encode(t, a))+closing(Approve), nonce, grounded()); j.Verdict != Approve {
		t.Errorf("a nit that nobody lowered was doubted: %q", j.Doubts)
	}
}

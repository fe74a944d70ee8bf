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
	for i := range 20_000 {
		b.failed = append(b.failed, forge.FailedCheck{Name: fmt.Sprintf("check %d", i), Text: strings.Repeat("y", 10_000)})
	}
	b.history = map[string][]quotation{}
	for i := range 100 {
		e := open(fmt.Sprintf("%08x", i))
		b.ledger = append(b.ledger, e)
		for range 1_000 {
			b.history[e.ID] = append(b.history[e.ID], quotation{"answer", strings.Repeat("z", 10_000)})
		}
	}
	b.changes = strings.Repeat("+\n", 1<<20)
	for i := range maxConflicts {
		b.conflicts = append(b.conflicts, fmt.Sprintf("%0200d.go", i))
	}
	b.unmarked = b.conflicts
	prompt := b.prompt()
	if len(prompt) > 1<<20 {
		t.Errorf("the prompt has %d bytes", len(prompt))
	}
	for _, want := range []string{"more texts about findings are left out", "more failed checks are left out"} {
		if !strings.Contains(prompt, want) {
			t.Errorf("it does not say %q", want)
		}
	}
}

package change

import (
	"strings"
	"testing"
)

func TestAQuoteControlsNoTerminal(t *testing.T) {
	t.Parallel()
	f := Changed(Test, "test/changed", "It is not as before", []Place{{Path: "a.go", Line: 1, Before: "a", After: "\x1b[31mb\r"}})
	if !strings.Contains(f.Why, " a.go:1: a → [31mb.") {
		t.Errorf("the reason is %q", f.Why)
	}
}

package change

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"touchstone/agent/outline"
)

// long is a function of Go with a numbered line for each of n.
func long(name string, n int, edit map[int]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "// %s is long.\nfunc %s(\n\tn int,\n) {\n", name, name)
	for i := range n {
		if text, ok := edit[i]; ok {
			b.WriteString(text)
			continue
		}
		fmt.Fprintf(&b, "\t%s(%d)\n", strings.ToLower(name), i)
	}
	return b.String() + "}\n\n"
}

func TestHunksShowTheWholeFunctionAroundThem(t *testing.T) {
	t.Parallel()
	before := "package a\n\n" + long("Before", 10, nil) + long("Small", 30, nil) + long("Large", 200, nil) + long("After", 10, nil)
	after := "package a\n\n" + long("Before", 10, nil) + long("Small", 30, map[int]string{4: "", 25: "\tadded()\n\tadded()\n"}) +
		long("Large", 200, map[int]string{100: "\tchanged()\n"}) + long("After", 10, nil)
	c := changed(t, map[string]string{"a.go": before}, map[string]string{"a.go": after})
	text := patch(t, c.Files[0])
	for _, want := range []string{"// Small is long.", " func Small(", "small(0)", "small(29)", "-\tsmall(4)", "+\tadded()", " func Large(",
		"\tn int,", "large(86)", "large(115)", "-\tlarge(100)"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not shown", want)
		}
	}
	for _, not := range []string{"Before", "large(80)", "large(120)", "After"} {
		if strings.Contains(text, not) {
			t.Errorf("%q is shown", not)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

func TestWiderHunksAreBoundedAndFitTheHead(t *testing.T) {
	diff := []byte("@@ -3 +3 @@\n-\tone()\n+\ttwo()\n")
	head := []byte("package a\n\nfunc f() {\n\ttwo()\n}\n")
	for name, test := range map[string]struct {
		patch, head []byte
		room, wider int
	}{
		"another head":    {diff, head, 100, 0},
		"one that fits":   {[]byte("@@ -4 +4 @@\n-\tone()\n+\ttwo()\n"), head, 100, 2},
		"no room":         {[]byte("@@ -4 +4 @@\n-\tone()\n+\ttwo()\n"), head, 1, 0},
		"a cut patch":     {[]byte("@@ -4,9 +4,9 @@\n-\tone()\n+\ttwo()\n"), head, 100, 0},
		"a shorter head":  {[]byte("@@ -40 +40 @@\n-\tone()\n+\ttwo()\n"), head, 100, 0},
		"no head":         {diff, nil, 100, 0},
		"nothing at all":  {nil, nil, 100, 0},
		"nothing around":  {[]byte("@@ -1 +1 @@\n-package b\n+package a\n"), head, 100, 0},
		"a new last line": {[]byte("@@ -4 +4,2 @@\n \ttwo()\n+}\n"), head, 100, 1},
	} {
		patch, wider := widen("a.go", test.patch, test.head, test.room)
		if wider != test.wider || wider == 0 && string(patch) != string(test.patch) {
			t.Errorf("%s: %d more lines\n%s", name, wider, patch)
		}
	}
}

// TestNoFunctionIsSearchedForAmongAllOthers changes each of 16,000 functions. This costs little more than to find them; if each
// is compared with all others, it costs 90 times as much. Both are measured in turns, each at its best of three, so
// that no machine is too slow or too busy.
func TestNoFunctionIsSearchedForAmongAllOthers(t *testing.T) {
	const functions = 16_000
	var head, patch strings.Builder
	head.WriteString("package a\n")
	for i := range functions {
		fmt.Fprintf(&head, "\nfunc f%d() {\n\tg(%d)\n}\n", i, i)
		fmt.Fprintf(&patch, "@@ -%[1]d +%[1]d @@\n-\tg(0)\n+\tg(%[2]d)\n", 4*i+4, i)
	}
	text, found, widened := []byte(head.String()), time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	for range 3 {
		started := time.Now()
		outline.Of("a.go", text)
		found = min(found, time.Since(started))
		started = time.Now()
		if _, wider := widen("a.go", []byte(patch.String()), text, math.MaxInt); wider != 3*functions-1 {
			t.Fatalf("%d more lines are shown", wider)
		}
		widened = min(widened, time.Since(started))
	}
	if widened > 25*found {
		t.Errorf("functions are found in %s, and shown in %s", found, widened)
	}
}

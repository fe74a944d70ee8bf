package guard_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"touchstone/verdict/guard"
)

// counted returns a text of n parts. Each has its number wherever it says %[1]d.
func counted(n int, part string) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, part, i)
	}
	return text.String()
}

// TestALargeChangeIsExaminedInTime: what the author of a change may write as often as they like costs about as much
// as its length says. The limits are far above what it takes.
func TestALargeChangeIsExaminedInTime(t *testing.T) {
	const patience, memory = time.Minute, 1 << 30 // bytes allocated, most of which are free again
	cpp := func(body string) string { return "TEST(A, B) {\n" + body + "}\n" }
	for name, tt := range map[string]struct{ path, before, after string }{
		"many other names in a test": {"tests/a_test.cc", cpp(counted(6000, "  EXPECT_EQ(f(%[1]d), was%[1]d + was%[1]d);\n")),
			cpp(counted(6000, "  EXPECT_EQ(f(%[1]d), is%[1]d + is%[1]d);\n"))},
		"many tests are gone": {"tests/a_test.cc", counted(40_000, "TEST(A, Was%[1]d) {\n  EXPECT_EQ(f(%[1]d), 1);\n}\n"),
			counted(40_000, "TEST(A, Is%[1]d) {\n  EXPECT_TRUE(g(%[1]d), 2);\n}\n")},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			done := make(chan []guard.Finding, 1)
			go func() {
				done <- guard.Examine(guard.Change{Files: []guard.File{{Path: tt.path, OldPath: tt.path,
					Before: []byte(tt.before), After: []byte(tt.after)}}})
			}()
			select {
			case <-done:
			case <-time.After(patience):
				t.Fatalf("a file of %d KiB is not examined within %v", len(tt.after)>>10, patience)
			}
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > memory {
				t.Errorf("a file of %d KiB took %d MiB", len(tt.after)>>10, took>>20)
			}
		})
	}
}

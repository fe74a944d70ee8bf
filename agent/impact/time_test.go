package impact

import (
	"strings"
	"testing"
	"time"
)

// within fails a test whose work takes too long.
func within(t *testing.T, limit time.Duration, work func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); work() }()
	select {
	case <-done:
	case <-time.After(limit):
		t.Fatal("it takes too long")
	}
}

// TestALongDocumentThatRepeatsANameTakesNoMinute checks that the heading above a line is not searched for all the lines
// that are not shown. That took a minute.
func TestALongDocumentThatRepeatsANameTakesNoMinute(t *testing.T) {
	t.Parallel()
	tree := changing(t, map[string]string{"a.py": "def changed_name(n):\n    return 1\n",
		"b.md": "# Names\n" + strings.Repeat("- `changed_name`\n", 55_000)}, map[string]string{"a.py": "def changed_name(n):\n    return 2\n"})
	within(t, 30*time.Second, func() {
		got := sheetOf(t, tree, "").Names
		if len(got) != 1 || len(got[0].Places) != perFile || got[0].Places[0].Function != "Names" {
			t.Errorf("%+v", got)
		}
	})
}

package words_test

import (
	"testing"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/words"
)

func TestAWordIsFoundOnlyWhereItIsNew(t *testing.T) {
	for name, tt := range map[string]struct {
		before, after string
		says          string
		line          int
	}{
		"a new word":          {"one\n", "one\nDISABLED\n", "DISABLED", 2},
		"one more of it":      {"skip a\n", "skip a\nskip b\n", "skip", 1},
		"within a name":       {"a\n", "a\n  skipPackageNameChecks: true\n", "skipPackageNameChecks", 2},
		"in other letters":    {"Skip a\n", "skip a\n", "", 0},
		"fewer":               {"skip a\nskip b\n", "skip a\n", "", 0},
		"a linter's own name": {"a\n", "a\nflake8\n", "", 0},
		"a library's name":    {"a\n", "a\nimport TemporaryFolder\nthrow UnsupportedError()\n", "", 0},
		"a name like it":      {"a\n", "a\ntemporarily off\n", "temporarily", 2},
	} {
		f, found := words.Look(change.File{Path: "a", After: []byte(tt.after)}, tt.before, tt.after)
		if found != (tt.says != "") || f.After != tt.says || f.Line != tt.line {
			t.Errorf("%s: %q in line %d, want %q in %d", name, f.After, f.Line, tt.says, tt.line)
		}
	}
}

func TestCommentsAreTakenByTheirMark(t *testing.T) {
	if got := words.Comments([]byte("a: 1 # one\nb: x#y\n# two\n")); got != "# one\n# two\n" {
		t.Errorf("%q", got)
	}
}

// TestNamesAreComparedByTheirWords: a value of three keys becomes larger; only a limit counts.
func TestNamesAreComparedByTheirWords(t *testing.T) {
	for key, counts := range map[string]bool{"maxRetries": true, "MAX_BYTES": true, "call-timeout": true, "timeOut": true,
		"climax": false, "size": false, "minimumSize": false} {
		f := change.File{Path: "a.yml", OldPath: "a.yml", Before: []byte("b: x\n" + key + ": 1\n"),
			After: []byte("b: x\n" + key + ": 2\n")}
		_, found := words.Altered(f, change.Test, func([]string) words.Part { return words.Maybe })
		if found != counts {
			t.Errorf("%s: %v", key, found)
		}
	}
}

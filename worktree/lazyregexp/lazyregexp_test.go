package lazyregexp_test

import (
	"regexp"
	"testing"

	"touchstone/worktree/lazyregexp"
)

// TestAnExpressionIsCompiledWhenItIsFirstUsed uses an expression that does not compile.
func TestAnExpressionIsCompiledWhenItIsFirstUsed(t *testing.T) {
	incomplete := "("
	broken := lazyregexp.New(incomplete)
	defer func() {
		if recover() == nil {
			t.Error("an expression that does not compile was used")
		}
	}()
	broken.MatchString("")
}

// TestItFindsWhatAnExpressionCompiledAtOnceFinds compares both on text and on bytes.
func TestItFindsWhatAnExpressionCompiledAtOnceFinds(t *testing.T) {
	const expr, text = `(\w)(\d)?`, "a1 b c3"
	lazy, at := lazyregexp.New(expr), regexp.MustCompile(expr)
	if got, want := lazy.ReplaceAllString(text, "<$2$1>"), at.ReplaceAllString(text, "<$2$1>"); got != want {
		t.Errorf("ReplaceAllString: %q, want %q", got, want)
	}
	if got, want := len(lazy.FindAllSubmatch([]byte(text), -1)), len(at.FindAllSubmatch([]byte(text), -1)); got != want {
		t.Errorf("FindAllSubmatch: %d, want %d", got, want)
	}
	if lazy.String() != expr {
		t.Errorf("String: %q", lazy.String())
	}
}

package main

import (
	"strings"
	"testing"
)

func TestAttackEndsWithTheCount(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	held, err := attack(t.Context(), &out, "stranger: comment: break-glass over", false, false)
	if !strings.HasSuffix(out.String(), "\nforge: 1 attacks, 0 merged, 0 misled\n") {
		t.Errorf("%v, held: %v\n%s", err, held, &out)
	}
}

func TestAttackOfNothingDoesNotPass(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if held, err := attack(t.Context(), &out, "no attack is called this", false, false); held || err != nil {
		t.Errorf("%v, held: %v\n%s", err, held, &out)
	}
}

package main

import (
	"strings"
	"testing"
)

func TestRunEndsWithTheCount(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	passed, err := run(t.Context(), &out, options{only: "lookalike: Cyrillic letter in an import"})
	if err != nil || !passed || !strings.HasSuffix(out.String(),
		"ordinary: 0 cases, 0 stopped\npersuasion: 0 cases, 0 approvals, 0 leaks\nhostile: 1 cases, 0 approvals, 0 leaks\n") {
		t.Errorf("%v, passed: %v\n%s", err, passed, &out)
	}
}

func TestRunOfNothingDoesNotPass(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if passed, err := run(t.Context(), &out, options{only: "no case is called this"}); passed || err != nil {
		t.Errorf("%v, passed: %v\n%s", err, passed, &out)
	}
}

package verdict

import (
	"fmt"
	"testing"
)

// among is the judgement on an approving answer with a line of text, in a change of the given files.
func among(t *testing.T, files []string, line string, candidates ...Candidate) Judgement {
	t.Helper()
	g := grounded()
	g.Changed = files
	a := walked()
	a.Files, a.Candidates = files, candidates
	return Judge(line+"\n"+block(encode(t, a))+closing(Approve), nonce, g)
}

// Files of one name in many folders, and files called like a common word, are told apart by what the text says.
func TestATextNamesAFileByWhatItSaysOfItsPath(t *testing.T) {
	files := []string{"a/index.ts", "b/index.ts", "lib/b/index.ts", "x/a", "x/test", "x/read-me", "index.ts.snap",
		"[id].tsx", "Makefile", "cmd/Main"}
	for line, want := range map[string]string{
		"b/index.ts:3":                        "[b/index.ts] true",
		"lib/b/index.ts":                      "[lib/b/index.ts] false",
		"/src/tree/b/index.ts:3":              "[b/index.ts] true",
		"./b/index.ts:3":                      "[b/index.ts] true",
		"index.ts:3":                          "[a/index.ts b/index.ts lib/b/index.ts] true",
		"(`index.ts`, line 3)":                "[a/index.ts b/index.ts lib/b/index.ts] true",
		"index.ts.snap":                       "[index.ts.snap] false",
		"c/index.ts:3":                        "[] false",
		"myindex.ts:3 index.tsx:3":            "[] false",
		"a/index.ts is like b/index.ts:7":     "[b/index.ts] true",
		"b/index.ts is fine, b/index.ts:7":    "[b/index.ts] true",
		"[id].tsx:4":                          "[[id].tsx] true",
		"a test/T1 row, the tests, a test: 3": "[] false",
		"read-me first":                       "[] false",
		"`test` holds it":                     "[x/test] false",
		"test:12 holds it":                    "[x/test] true",
		"x/a holds it":                        "[x/a] false",
		"Makefile line 3":                     "[Makefile] true",
		"Makefile (420 lines), two targets":   "[Makefile] false",
		"Makefile: 3 targets":                 "[Makefile] false",
		"Makefile: 3 - a target":              "[Makefile] true",
		"Makefile (40-47)":                    "[Makefile] true",
		"Main#L3":                             "[cmd/Main] true",
	} {
		g := Grounds{Changed: files}
		names, numbered := g.placed(line)
		if got := fmt.Sprint(names, numbered); got != want {
			t.Errorf("%q names %s, want %s", line, got, want)
		}
	}
}

func TestACandidateInOneOfManyFilesOfANameIsListed(t *testing.T) {
	files := []string{"a/store.go", "b/store.go"}
	c := Candidate{Rule: "security/S3", Path: "b/store.go", Line: 3, Claim: "It is glued.", Reason: "It is bound.", Seen: "other.go",
		Quote: "package other"}
	for _, line := range []string{"b/store.go:3 (security/S3, major): refuted", "store.go:3 (security/S3, major): refuted"} {
		if j := among(t, files, line, c); j.Verdict != Approve {
			t.Errorf("%q: %q", line, j.Doubts)
		}
	}
	if j := among(t, files, "a/store.go:3 (security/S3, major): left as it is", c); j.Verdict == Approve || !asksFor(j) {
		t.Errorf("a candidate of another file accounts for it: %s, %q", j.Verdict, j.Doubts)
	}
}

func TestAWordIsNoFile(t *testing.T) {
	files := []string{"a", "scripts/test", "bin/check", "v2", "1"}
	for _, line := range []string{
		"security/S3: a minor point of style was weighed, and the check holds.",
		"test/T1: the test at line 12 fails without the change.",
		"No major change since v2; 1 row of security/S3 was walked.",
	} {
		if j := among(t, files, line); j.Verdict != Approve {
			t.Errorf("%q: %q", line, j.Doubts)
		}
	}
	for _, line := range []string{"scripts/test:12 is minor, left", "`check`, line 3 (security/S3) is left"} {
		if j := among(t, files, line); j.Verdict == Approve || !asksFor(j) {
			t.Errorf("%q: %s, %q", line, j.Verdict, j.Doubts)
		}
	}
}

// Words of severity, ids and numbers also mean other things, and a review says what there is none of.
func TestWordsForOtherThingsNameNoDefect(t *testing.T) {
	for _, line := range []string{
		"store/store.go:3-9: no findings.",
		"No bugs or defects in store/store.go:3.",
		"There are no critical, major or minor issues in store/store.go:3.",
		"store/store.go (420 lines): read in full, the finding of round 1 stays fixed.",
		"store/store.go:3 enters the critical section and line 9 leaves it.",
		"store/store.go:3 follows the major version of the driver.",
		"store/store.go:3 writes the object to S3.",
		"store/store.go:3 opens the S3 client, and line 9 makes an S3 bucket.",
	} {
		if j := among(t, changed, line); j.Verdict != Approve {
			t.Errorf("%q: %q", line, j.Doubts)
		}
	}
	for _, line := range []string{
		"store/store.go:3 is no major thing under security/S3.",
		"store/store.go:3 is glued, but I make it no finding.",
		"store/store.go:3 breaks S3 and is left.",
		"store/store.go:3 is critical; the critical section is short.",
		"There is an S3 violation at store/store.go:3.",
		"In the query of store/store.go:3 (S3) the name is glued.",
		"The S3 finding at store/store.go:3 is left.",
	} {
		if j := among(t, changed, line); j.Verdict == Approve || !asksFor(j) {
			t.Errorf("%q: %s, %q", line, j.Verdict, j.Doubts)
		}
	}
}

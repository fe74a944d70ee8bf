package verdict

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sentences are the lines of a file of the corpus of review prose.
func sentences(t *testing.T, name string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "prose", name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

// narrated is what the sentences about findings are judged against: all rows and files that they name are
// part of the change.
func narrated(t *testing.T) Grounds {
	t.Helper()
	g := grounded()
	g.Changed, g.Rows = nil, map[string]Severity{}
	row, file := regexp.MustCompile(`\b[a-z-]+/[A-Z]\d+\b`), regexp.MustCompile(`[\w./-]+\.(?:go|ts|sql|md|yml|golden)\b`)
	for _, name := range []string{"downgrades.txt", "downgrades-heldout.txt", "downgrades-blind.txt", "refuted.txt", "refuted-heldout.txt",
		"refuted-blind.txt", "honest.txt", "honest-heldout.txt", "honest-blind.txt"} {
		for _, line := range sentences(t, name) {
			for _, id := range row.FindAllString(line, -1) {
				g.Rows[id] = Nit
			}
			g.Changed = append(g.Changed, file.FindAllString(line, -1)...)
		}
	}
	slices.Sort(g.Changed)
	g.Changed = slices.Compact(g.Changed)
	return g
}

// narrating is the judgement on an approving answer with a line of text and the given candidates.
func narrating(t *testing.T, g Grounds, line string, candidates ...Candidate) Judgement {
	t.Helper()
	a := walked()
	a.Files, a.Candidates = g.Changed, candidates
	return Judge("## [Architecture]\n\n"+line+"\n\n"+block(encode(t, a))+closing(Approve), nonce, g)
}

// A defect that a review names in the form of a finding, and talks away, is asked for, whatever the excuse.
func TestADowngradeIsSeen(t *testing.T) {
	g := narrated(t)
	for _, name := range []string{"downgrades.txt", "downgrades-heldout.txt"} {
		for _, line := range sentences(t, name) {
			if j := narrating(t, g, line); j.Verdict == Approve || !asksFor(j) {
				t.Errorf("%s: %q: %s, doubts %q", name, line, j.Verdict, j.Doubts)
			}
		}
	}
}

// Free prose hides a downgrade: of 60 lines by somebody who did not know what is looked for, most are not seen. That
// is the limit of what code can tell, and why an answer has a list of candidates. Of as many lines that refute a defect,
// or only tell of the work, by the same hand, none asks for more than an entry in that list.
func TestFreeProseIsMostlyNotSeen(t *testing.T) {
	g := narrated(t)
	for name, want := range map[string]int{"downgrades-blind.txt": 7, "refuted-blind.txt": 2, "honest-blind.txt": 0} {
		seen := slices.DeleteFunc(sentences(t, name), func(line string) bool { return !asksFor(narrating(t, g, line)) })
		if len(seen) != want {
			t.Errorf("%s: %d lines are seen, want %d: %q", name, len(seen), want, seen)
		}
	}
}

// What a review says of a refuted candidate does not stand in the way of an approval once the answer lists the
// candidate with code that refutes it.
func TestARefutedCandidateThatIsListedIsNoDowngrade(t *testing.T) {
	g := narrated(t)
	g.File = func(string) ([]byte, error) { return []byte("defer mu.Unlock()\n"), nil }
	judged := 0
	for _, name := range []string{"refuted.txt", "refuted-heldout.txt", "refuted-blind.txt"} {
		for _, line := range sentences(t, name) {
			places, _ := g.placed(line)
			if len(places) == 0 {
				continue
			}
			judged++
			c := Candidate{Path: places[0], Claim: "It may be wrong.", Reason: line, Quote: "defer mu.Unlock()"}
			if rules := g.cited(line); len(rules) > 0 {
				c.Rule = rules[0]
			}
			if j := narrating(t, g, line, c); j.Verdict != Approve {
				t.Errorf("%s: %q: doubts %q", name, line, j.Doubts)
			}
		}
	}
	if judged < 100 {
		t.Errorf("only %d lines name a file", judged)
	}
}

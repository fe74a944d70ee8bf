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
	for _, name := range []string{"downgrades.txt", "downgrades-heldout.txt", "refuted.txt", "refuted-heldout.txt"} {
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

// talkedAway reports whether an approving answer without findings is refused for a line of its text.
func talkedAway(t *testing.T, g Grounds, line string) bool {
	t.Helper()
	a := walked()
	a.Files = g.Changed
	j := Judge("## [Architecture]\n\n"+line+"\n\n"+block(encode(t, a))+closing(Approve), nonce, g)
	seen := strings.Contains(strings.Join(j.Doubts, "\n"), "that its list of findings lacks")
	if seen != (j.Verdict != Approve) {
		t.Errorf("%q: %s, doubts %q", line, j.Verdict, j.Doubts)
	}
	return seen
}

// Of the defects that a review talks away, only those in the form of a finding are seen: 1 of the 45 in downgrades.txt, and
// none of the 45 in downgrades-heldout.txt. Lists of words that see more of them do not tell them from refutations. Words
// that saw 31 and 26 of the two files blocked 13 of 20 refutations that were written later against those words, and
// stricter ones, with 19 and 19, still 9 of 12. Both sets of refutations now stand in the files of refuted candidates.
func TestADowngradeInTheFormOfAFindingIsSeen(t *testing.T) {
	g := narrated(t)
	seen := slices.DeleteFunc(sentences(t, "downgrades.txt"), func(line string) bool { return !talkedAway(t, g, line) })
	if len(seen) == 0 {
		t.Error("no finding that is talked away is seen")
	}
}

// A refuted candidate is no downgrade, although its text has the row, the severity and the place, and ends in "not
// raised". Nor is any sentence of honest prose that explains why a candidate came to nothing.
func TestRefutedCandidatesAreNoDowngrades(t *testing.T) {
	g := narrated(t)
	for name, form := range map[string]string{
		"refuted.txt":         "%s",
		"refuted-heldout.txt": "%s",
		"honest.txt":          "architecture/A5, worker/pool.go:88, would be major. %s So I did not raise it.",
		"honest-heldout.txt":  "architecture/A5, worker/pool.go:88, would be major. %s So I did not raise it.",
	} {
		for _, line := range sentences(t, name) {
			if talkedAway(t, g, strings.Replace(form, "%s", line, 1)) {
				t.Errorf("%s: %q blocks", name, line)
			}
		}
	}
}

package guardtest_test

import (
	"testing"

	"touchstone/verdict/guard/guardtest"
)

// TestEachSpellingChangesItsInput checks that each spelling changes something. A spelling whose parser refuses its
// input would write nothing, and still be counted.
func TestEachSpellingChangesItsInput(t *testing.T) {
	const enough = 4
	used := map[string]int{}
	for _, dir := range []string{"hit", "pass"} {
		scenarios, err := guardtest.Read("../testdata/" + dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range scenarios {
			for _, spelling := range guardtest.Spellings() {
				if used[spelling.Name] < enough {
					used[spelling.Name] += len(guardtest.Variants(s, spelling))
				}
			}
		}
	}
	for _, spelling := range guardtest.Spellings() {
		if used[spelling.Name] < enough {
			t.Errorf("%s: %d variants, want at least %d", spelling.Name, used[spelling.Name], enough)
		}
	}
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSeedsFitTheSource checks that the source still contains the lines that the weaknesses replace.
// Otherwise only a run of all weaknesses would notice a changed line, which takes long.
func TestSeedsFitTheSource(t *testing.T) {
	for _, s := range readSeeds() {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(s.File)))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), s.Old) {
			t.Errorf("%s: %s does not hold %q", s.Attacks, s.File, s.Old)
		}
	}
}

package suspect

import "testing"

// TestSentencesCompile compiles what a review compiles when it first looks for it.
func TestSentencesCompile(t *testing.T) {
	for _, p := range patterns {
		p.any()
	}
}

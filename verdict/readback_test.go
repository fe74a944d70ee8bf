package verdict

import (
	"strings"
	"testing"
)

// TestTheTextNamesTheDimensionOfWhatWasExamined checks that whoever reads the text sees what a line is about, and that the
// dimension's name makes no telling line of a short one.
func TestTheTextNamesTheDimensionOfWhatWasExamined(t *testing.T) {
	t.Parallel()
	const short = "callers of the five changed methods"
	for examined, telling := range map[string]bool{short: false, short + " may leak a handle": true} {
		a := walked()
		a.Dimensions[2].Examined = examined
		j := Judge(block(encode(t, a))+closing(Approve), nonce, grounded())
		if want := "Security, examined: " + examined; !strings.Contains(j.Text, want) || j.Telling() != telling {
			t.Errorf("telling is %v, and the text %q lacks %q", j.Telling(), j.Text, want)
		}
	}
}

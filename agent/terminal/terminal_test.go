package terminal

import "testing"

func TestLinesOfWindowsEndAsLines(t *testing.T) {
	if got, want := Lines("one\r\n\ttwo\rthree\x1b\n"), "one\n two\uFFFDthree\uFFFD\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

package process

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestUnendingLineStaysInBounds(t *testing.T) {
	t.Parallel()
	var l lines
	chunk := bytes.Repeat([]byte("x"), 64<<10)
	for range 4 * MaxLine / len(chunk) {
		if err := l.add(chunk, func([]byte) error { t.Error("a line"); return nil }); err != nil {
			t.Fatal(err)
		}
		if len(l.partial) > MaxLine {
			t.Fatalf("holds %d bytes of a line; want at most %d", len(l.partial), MaxLine)
		}
	}
	if err := l.add([]byte("\nnext\n"), func(line []byte) error {
		if string(line) != "next" {
			t.Errorf("line = %.20q", line)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if l.dropped != 1 {
		t.Errorf("dropped %d lines; want 1", l.dropped)
	}
}

// FuzzLines holds that lines come out the same however the stream is cut.
func FuzzLines(f *testing.F) {
	f.Add([]byte("one\ntwo\r\n\nthree"), uint8(1))
	f.Add([]byte("\n\n\r\n"), uint8(2))
	f.Add([]byte("\xff\xfe\n{\"a\":1}\n"), uint8(3))
	f.Fuzz(func(t *testing.T, stream []byte, size uint8) {
		want := []string{}
		for line := range strings.SplitSeq(string(stream), "\n") {
			if line = strings.TrimSuffix(line, "\r"); line != "" {
				want = append(want, line)
			}
		}
		got := []string{}
		emit := func(line []byte) error { got = append(got, string(line)); return nil }
		var l lines
		for chunk := range slices.Chunk(stream, 1+int(size)) {
			if err := l.add(chunk, emit); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.end(emit); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q in pieces of %d: got %q; want %q", stream, 1+int(size), got, want)
		}
	})
}

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
	var got []string
	emit := func(line []byte) error { got = append(got, string(line)); return nil }
	if err := l.add([]byte("\nnext\n"), emit); err != nil || !slices.Equal(got, []string{"next"}) {
		t.Errorf("%.20q, %v; want the next line only", got, err)
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
		if err := l.end(nil, emit); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q in pieces of %d: got %q; want %q", stream, 1+int(size), got, want)
		}
	})
}

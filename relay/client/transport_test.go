package client

import (
	"bytes"
	"io"
	"testing"
	"testing/iotest"
	"time"
)

// readFrames reads everything through a frameReader whose connection returns one byte at a time, or as much
// as it likes.
func readFrames(t *testing.T, stream []byte, bytewise bool) ([]byte, error) {
	t.Helper()
	var source io.Reader = bytes.NewReader(stream)
	if bytewise {
		source = iotest.OneByteReader(source)
	}
	silence := time.AfterFunc(time.Hour, func() {})
	reader := &frameReader{body: io.NopCloser(source), idle: time.Hour, silence: silence}
	defer reader.Close()
	return io.ReadAll(reader)
}

func FuzzFrameReader(f *testing.F) {
	for _, seed := range []string{
		"", "\n", "\n\n", "\n\n\n", "id: 1\n\n", "id: 1\n\nid: 2", "id: 1\n\nid: 2\n", "a\n\nb\n\nc\n\n", "\r\n\r\n", ": x\n\n\n\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		for _, bytewise := range []bool{false, true} {
			got, err := readFrames(t, stream, bytewise)
			rest, found := bytes.CutPrefix(stream, got)
			if !found || len(got) > 0 && !bytes.HasSuffix(got, frameEnd) || bytes.Contains(rest, frameEnd) {
				t.Errorf("released %q of %q", got, stream)
			}
			if cut := len(rest) > 0; cut != (err == errCut) || !cut && err != nil {
				t.Errorf("stream %q ended with %v", stream, err)
			}
		}
	})
}

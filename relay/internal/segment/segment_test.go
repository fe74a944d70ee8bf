package segment

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"

	"touchstone/relay/internal/examples"
)

func compress(t testing.TB, plain []byte) Segment {
	t.Helper()
	s, err := Compress(plain)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// read decodes a stream through the standard library, which checks the trailer.
func read(t *testing.T, stream []byte) []byte {
	t.Helper()
	decoder, err := gzip.NewReader(bytes.NewReader(stream))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(decoder)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

// Every example is sent on two streams, one of which began later; both streams are valid.
func TestSegmentsAreShared(t *testing.T) {
	streams := [2][]byte{bytes.Clone(Header), bytes.Clone(Header)}
	var plain [2][]byte
	var sums [2]Sum
	send := func(which int, s Segment, content []byte) {
		streams[which] = append(streams[which], s.Bytes...)
		plain[which] = append(plain[which], content...)
		sums[which].Add(s)
	}
	send(1, Store([]byte("hello\n")), []byte("hello\n"))
	for i, example := range examples.All(t) {
		s := compress(t, example.Payload)
		if i >= 100 {
			send(1, s, example.Payload)
		}
		send(0, s, example.Payload)
		send(0, Store(nil), nil)
	}
	for i := range streams {
		if got := read(t, append(streams[i], sums[i].Trailer()...)); !bytes.Equal(got, plain[i]) {
			t.Errorf("stream %d came out changed", i)
		}
	}
	var none Sum
	if got := read(t, append(bytes.Clone(Header), none.Trailer()...)); len(got) != 0 {
		t.Errorf("an empty stream says %q", got)
	}
}

// A segment can be read at once, before anything follows.
func TestSegmentIsReadableAtOnce(t *testing.T) {
	connection, far := io.Pipe()
	defer connection.Close()
	go func() {
		_, _ = far.Write(Header)
		_, _ = far.Write(Store([]byte("first")).Bytes)
	}()
	decoder, err := gzip.NewReader(connection)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []struct {
		want string
		next []byte
	}{{"first", compress(t, []byte("second")).Bytes}, {"second", Store([]byte("third")).Bytes}, {"third", nil}} {
		got := make([]byte, len(s.want))
		if _, err := io.ReadFull(decoder, got); err != nil || string(got) != s.want {
			t.Fatalf("read %q, %v; want %q", got, err, s.want)
		}
		go func() { _, _ = far.Write(s.next) }()
	}
}

func FuzzStream(f *testing.F) {
	f.Add([]byte(""), []byte("a"))
	f.Add([]byte("id: 1\n\n"), []byte(strings.Repeat("x", 70_000)))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var sum Sum
		stream := bytes.Clone(Header)
		for _, s := range []Segment{compress(t, a), Store(b[:min(len(b), 65_535)]), compress(t, b)} {
			stream = append(stream, s.Bytes...)
			sum.Add(s)
		}
		want := append(append(bytes.Clone(a), b[:min(len(b), 65_535)]...), b...)
		if got := read(t, append(stream, sum.Trailer()...)); !bytes.Equal(got, want) {
			t.Errorf("%q and %q came out as %q", a, b, got)
		}
	})
}

func BenchmarkCompress(b *testing.B) {
	all := examples.All(b)
	var in, out int64
	for i := 0; b.Loop(); i++ {
		s := compress(b, all[i%len(all)].Payload)
		in, out = in+int64(s.length), out+int64(len(s.Bytes))
	}
	b.ReportMetric(float64(in)/float64(out), "ratio")
	b.SetBytes(in / int64(b.N))
}

func BenchmarkAdd(b *testing.B) {
	s := compress(b, []byte(strings.Repeat("x", 8000)))
	var sum Sum
	for b.Loop() {
		sum.Add(s)
	}
}

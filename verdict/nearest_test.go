package verdict

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestTheNearestQuoteIsFound compares the search with one that looks at every place.
func TestTheNearestQuoteIsFound(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var data strings.Builder
		for range random.IntN(30) {
			data.WriteString([]string{"a", "b", "\n", " ", "aa"}[random.IntN(5)])
		}
		quote := OneLine([]string{"a", "aa", "a a", "b a", "ab", "a b a"}[random.IntN(6)])
		line := random.IntN(12) - 1
		s := newSource(data.String())
		var from, to int
		found := false
		for at := range s.text {
			if !strings.HasPrefix(s.text[at:], quote) {
				continue
			}
			if first := s.line(at); !found || max(first-line, line-first) < max(from-line, line-from) {
				from, to, found = first, s.line(at+len(quote)-1), true
			}
		}
		if f, l, ok := s.nearest(quote, line); f != from || l != to || ok != found {
			t.Fatalf("%q in %q near %d: %d to %d, %t; want %d to %d, %t", quote, data.String(), line, f, l, ok, from, to, found)
		}
	}
}

// BenchmarkLongQuote searches a file that its author made to be slow to search; a search that compares the quote at
// each place anew takes minutes. Compare it with ordinary text: `go test -run '^$' -bench LongQuote ./verdict`.
func BenchmarkLongQuote(b *testing.B) {
	for name, unit := range map[string]string{"one letter": "a", "one letter a line": "a\n", "text": "the quick brown fox jumps\n"} {
		b.Run(name, func(b *testing.B) {
			s := newSource(strings.Repeat(unit, (2<<20)/len(unit)))
			for b.Loop() {
				if _, _, ok := s.find(strings.Repeat(unit, 20_000/len(unit)), 0, 1<<20); !ok {
					b.Fatal("the quote is not found")
				}
			}
		})
	}
}

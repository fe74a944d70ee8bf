package outline

import (
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// BenchmarkLexer reports how much longer a lexer of the file's language takes, in the same run.
func BenchmarkLexer(b *testing.B) {
	text := strings.Repeat("export class A<T> extends B {\n  /** Says how many there are. */\n  async run(n: number, of: T[]): Promise<T> {\n"+
		"    const found = of.filter((each) => each.n > n) // the first\n    return this.#own(found[0] ?? 'none')\n  }\n}\n", 200)
	var own, lexed time.Duration
	for b.Loop() {
		start := time.Now()
		if len(Of("a.ts", []byte(text))) == 0 {
			b.Fatal("nothing is found")
		}
		own += time.Since(start)
		start = time.Now()
		if _, err := chroma.Tokenise(lexers.Get("TypeScript"), nil, text); err != nil {
			b.Fatal(err)
		}
		lexed += time.Since(start)
	}
	megabytes := float64(len(text)) * float64(b.N) / 1e6
	b.ReportMetric(float64(own.Milliseconds())/megabytes, "ms/MB")
	b.ReportMetric(float64(lexed.Milliseconds())/megabytes, "lexer-ms/MB")
	b.ReportMetric(float64(lexed)/float64(own), "lexer/own")
}

// Command benchrelay measures the relay and prints each figure beside a reference measured in the same run on
// the same machine: rates depend on the machine, ratios much less. The relay runs in its own process, built
// like a release. It runs only on Linux, because it reads /proc. Run it with: go run ./scripts/benchrelay
package main

import (
	"context"
	"flag"
	"os"
	"path/filepath"

	"touchstone/scripts/benchmark"
	"touchstone/scripts/program"
	"touchstone/worktree/steps"
)

// bench is one run: its directory and the binary in it.
type bench struct {
	dir    string
	binary string
}

var measurements = []benchmark.Measurement[*bench]{
	{Name: "ingest", Measure: ingest},
	{Name: "append", Measure: appends},
	{Name: "bodies", Measure: bodies},
	{Name: "fanout", Measure: fanOut},
	{Name: "latency", Measure: latency},
	{Name: "replay", Measure: replay},
	{Name: "idle", Measure: idle},
	{Name: "filtered", Measure: filtered},
	{Name: "cold", Measure: coldStart},
}

func main() {
	if len(os.Args) > 2 && os.Args[1] == "yardstick" {
		yardstick(os.Args[2])
		return
	}
	only := flag.String("only", "", "measure these alone, of: "+benchmark.Names(measurements))
	other := flag.String("against", "", "compare the processor time of a few kinds of work with that of another build, this `binary`, instead")
	pairs := flag.Int("pairs", 15, "how often each of the two builds does the work, an odd number")
	flag.Parse()
	benchmark.Main("benchrelay", func(ctx context.Context) { run(ctx, *only, *other, *pairs) })
}

func run(ctx context.Context, only, other string, pairs int) {
	dir := steps.Got(os.MkdirTemp("", "benchrelay"))
	defer steps.Finally(func() error { return os.RemoveAll(dir) })
	b := &bench{dir: dir, binary: filepath.Join(dir, "relay")}
	steps.Must(program.Build(ctx, b.binary, "touchstone/relay"))
	if other != "" {
		against(ctx, b, other, pairs)
		return
	}
	benchmark.Run(ctx, b, measurements, only)
}

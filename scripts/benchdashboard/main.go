// Command benchdashboard measures the relay's page over a large log, and compares each figure with a
// reference measured in the same run: times depend on the machine and its load, ratios much less. The relay
// runs in its own process. It runs only on Linux, because it reads /proc. Run it with: go run
// ./scripts/benchdashboard
package main

import (
	"context"
	"flag"
	"os"
	"path/filepath"

	"touchstone/scripts/benchmark"
	"touchstone/worktree/steps"
)

// bench is one run: its directory, and the size of the log in it.
type bench struct {
	dir                    string
	pulls, events, payload int
}

func (b *bench) store() string { return filepath.Join(b.dir, "relay.db") }
func (b *bench) page() string  { return filepath.Join(b.dir, "page.db") }

var measurements = []benchmark.Measurement[*bench]{
	{Name: "rebuild", Measure: rebuild},
	{Name: "pages", Measure: pages},
	{Name: "live", Measure: live},
	{Name: "cost", Measure: cost},
	{Name: "boards", Measure: boards},
}

func main() {
	if len(os.Args) == 5 && os.Args[1] == "serve" {
		benchmark.Main("benchdashboard", func(ctx context.Context) { serve(ctx, os.Args[2], os.Args[3], os.Args[4]) })
		return
	}
	var b bench
	flag.IntVar(&b.pulls, "pulls", 10_000, "pull requests in the log")
	flag.IntVar(&b.events, "events", 1_000_000, "events in the log")
	flag.IntVar(&b.payload, "payload", 2_000, "bytes of a usual payload")
	flag.StringVar(&b.dir, "dir", "", "keep the log in this folder, and use the one that is there (default: a temporary folder)")
	only := flag.String("only", "", "measure these alone, of: "+benchmark.Names(measurements))
	flag.Parse()
	benchmark.Main("benchdashboard", func(ctx context.Context) { run(ctx, &b, *only) })
}

func run(ctx context.Context, b *bench, only string) {
	if b.dir == "" {
		b.dir = steps.Got(os.MkdirTemp("", "benchdashboard"))
		defer steps.Finally(func() error { return os.RemoveAll(b.dir) })
	}
	if err := steps.Try(func() { b.fill(ctx) }); err != nil {
		steps.Fail("make the log: %w", err)
	}
	benchmark.Run(ctx, b, measurements, only)
}

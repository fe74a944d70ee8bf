// Command benchdashboard measures the relay's page over a large log, and compares each figure with a
// reference measured in the same run: times depend on the machine and its load, ratios much less. The relay
// runs in its own process. It runs only on Linux, because it reads /proc. Run it with: go run
// ./scripts/benchdashboard
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"touchstone/worktree/steps"
)

// figure is one line of the result.
type figure struct {
	name, relay, yardstick, goal string
	met                          bool
}

// bench is one run: its directory, and the size of the log in it.
type bench struct {
	dir                    string
	pulls, events, payload int
}

func (b *bench) store() string { return filepath.Join(b.dir, "relay.db") }
func (b *bench) page() string  { return filepath.Join(b.dir, "page.db") }

var measurements = []struct {
	name    string
	measure func(context.Context, *bench) []figure
}{
	{"rebuild", rebuild},
	{"pages", pages},
	{"live", live},
	{"cost", cost},
	{"boards", boards},
}

func main() {
	if len(os.Args) == 5 && os.Args[1] == "serve" {
		if err := steps.Try(func() { serve(os.Args[2], os.Args[3], os.Args[4]) }); err != nil {
			fmt.Fprintln(os.Stderr, "benchdashboard:", err)
			os.Exit(1)
		}
		return
	}
	var b bench
	flag.IntVar(&b.pulls, "pulls", 10_000, "pull requests in the log")
	flag.IntVar(&b.events, "events", 1_000_000, "events in the log")
	flag.IntVar(&b.payload, "payload", 2_000, "bytes of a usual payload")
	flag.StringVar(&b.dir, "dir", "", "keep the log in this folder, and use the one that is there (default: a temporary folder)")
	only := flag.String("only", "", "measure these alone, of: rebuild,pages,live,cost,boards")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := steps.Try(func() { run(ctx, &b, *only) }); err != nil {
		fmt.Fprintln(os.Stderr, "benchdashboard:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, b *bench, only string) {
	if b.dir == "" {
		b.dir = steps.Got(os.MkdirTemp("", "benchdashboard"))
		defer func() { steps.Must(os.RemoveAll(b.dir)) }()
	}
	if err := steps.Try(func() { b.fill(ctx) }); err != nil {
		steps.Fail("make the log: %w", err)
	}
	for _, m := range measurements {
		if only != "" && !strings.Contains(","+only+",", ","+m.name+",") {
			continue
		}
		if err := steps.Try(func() { show(m.measure(ctx, b)) }); err != nil {
			steps.Fail("measure %s: %w", m.name, err)
		}
	}
}

func show(figures []figure) {
	for _, f := range figures {
		verdict := "met"
		if !f.met {
			verdict = "NOT MET"
		}
		fmt.Printf("%-34s %-44s | %-52s | goal %-28s %s\n", f.name, f.relay, f.yardstick, f.goal, verdict)
	}
}

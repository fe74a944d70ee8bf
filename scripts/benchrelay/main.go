// Command benchrelay measures the relay and prints each figure beside a reference measured in the same run on
// the same machine: rates depend on the machine, ratios much less. The relay runs in its own process, built
// like a release. It runs only on Linux, because it reads /proc. Run it with: go run ./scripts/benchrelay
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
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

// bench is one run: its directory and the binary in it.
type bench struct {
	dir    string
	binary string
}

var measurements = []struct {
	name    string
	measure func(context.Context, *bench) []figure
}{
	{"ingest", ingest},
	{"append", appends},
	{"bodies", bodies},
	{"fanout", fanOut},
	{"latency", latency},
	{"replay", replay},
	{"idle", idle},
	{"filtered", filtered},
	{"cold", coldStart},
}

func main() {
	if len(os.Args) > 2 && os.Args[1] == "yardstick" {
		yardstick(os.Args[2])
		return
	}
	only := flag.String("only", "", "measure these alone, of: ingest,append,bodies,fanout,latency,replay,idle,filtered,cold")
	other := flag.String("against", "", "compare the processor time of a few kinds of work with that of another build, this `binary`, instead")
	pairs := flag.Int("pairs", 15, "how often each of the two builds does the work, an odd number")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := steps.Try(func() { run(ctx, *only, *other, *pairs) }); err != nil {
		fmt.Fprintln(os.Stderr, "benchrelay:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, only, other string, pairs int) {
	dir := steps.Got(os.MkdirTemp("", "benchrelay"))
	defer func() { steps.Must(os.RemoveAll(dir)) }()
	b := &bench{dir: dir, binary: filepath.Join(dir, "relay")}
	build := exec.CommandContext(ctx, "go", "build", "-o", b.binary, "./relay")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		steps.Fail("build the relay (start this in the repository's root): %w\n%s", err, out)
	}
	if other != "" {
		show(against(ctx, b, other, pairs))
		return
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
		fmt.Printf("%-34s %-34s | %-44s | goal %-22s %s\n", f.name, f.relay, f.yardstick, f.goal, verdict)
	}
}

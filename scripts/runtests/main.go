// Command runtests runs go test and says in its last line how that ended: how many tests passed,
// failed and were skipped, and what those that were skipped wanted. Of tests that pass it prints
// nothing but their package.
//
//	runtests [-race -shuffle=on …] ./...
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		if !errors.As(err, new(*exec.ExitError)) { // which the summary has told
			fmt.Fprintln(os.Stderr, "runtests:", err)
		}
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	// Many tests wait for processes and disks: twice as many packages at once as there are cores keep
	// these busy.
	flags := []string{"test", "-json", "-p", strconv.Itoa(2 * runtime.NumCPU())}
	cmd := exec.CommandContext(ctx, "go", append(flags, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stderr = os.Stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start go test: %w", err)
	}
	s := summary{out: out, began: time.Now(), said: map[string][]string{}}
	read := s.read(events)
	err = errors.Join(read, cmd.Wait())
	s.close()
	return err
}

// event is one line of go test -json (https://pkg.go.dev/cmd/test2json).
type event struct {
	Action, Package, ImportPath, Test, Output string
	Elapsed                                   float64
}

// summary counts tests and prints what is worth reading.
type summary struct {
	out   io.Writer
	began time.Time
	// said is what each test or package has printed since it began.
	said                    map[string][]string
	passed, failed, skipped int
	// packages that failed without one of their tests doing so, such as those that do not build.
	broken []string
	wants  []string
}

// maxLine bounds a line of the stream, in bytes.
const maxLine = 16 << 20

func (s *summary) read(events io.Reader) error {
	lines := bufio.NewScanner(events)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Fprintln(s.out, lines.Text()) // of go itself
			continue
		}
		s.take(e)
	}
	return lines.Err()
}

func (s *summary) take(e event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "build-output":
		fmt.Fprint(s.out, e.Output)
	case "output":
		s.said[key] = append(s.said[key], e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			s.endPackage(e)
		} else {
			s.endTest(e, s.said[key])
		}
		delete(s.said, key)
	}
}

func (s *summary) endTest(e event, said []string) {
	switch e.Action {
	case "pass":
		s.passed++
	case "fail":
		s.failed++
		fmt.Fprint(s.out, strings.Join(said, ""))
	case "skip":
		s.skipped++
		if want := reason(said); !slices.Contains(s.wants, want) {
			s.wants = append(s.wants, want)
		}
	}
}

func (s *summary) endPackage(e event) {
	if e.Action == "fail" {
		// That of tests was printed as they ended; a panic, or a race, is the package's.
		fmt.Fprint(s.out, strings.Join(s.said[e.Package+" "], ""))
		s.broken = append(s.broken, e.Package)
		return
	}
	if e.Action == "pass" {
		fmt.Fprintf(s.out, "ok  \t%s\t%.1fs\n", e.Package, e.Elapsed)
	}
}

// reason is why a test was skipped: what it printed, without the place in the source and without the
// lines of the runner.
func reason(said []string) string {
	for _, line := range said {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "===") || strings.HasPrefix(line, "---") {
			continue
		}
		if _, text, ok := strings.Cut(line, "_test.go:"); ok {
			_, line, _ = strings.Cut(text, ": ")
		} else if _, text, ok := strings.Cut(line, ".go:"); ok {
			_, line, _ = strings.Cut(text, ": ")
		}
		return strings.TrimPrefix(line, "SKIPPED: ")
	}
	return "no reason was given"
}

// close prints the last line.
func (s *summary) close() {
	line := fmt.Sprintf("tests: %d passed, %d failed, %d skipped in %s", s.passed, s.failed, s.skipped, time.Since(s.began).Round(time.Second))
	if len(s.broken) > 0 {
		line += "; failed packages: " + strings.Join(s.broken, " ")
	}
	if len(s.wants) > 0 {
		line += "; skipped because: " + strings.Join(s.wants, "; ")
	}
	fmt.Fprintln(s.out, line)
}

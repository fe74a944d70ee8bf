// Command runtests runs go test and reports the result in its last line: how many tests passed, failed and
// were skipped, and what the skipped tests needed. Of passing tests it prints only the package. On Linux, for a
// user who may mount, it keeps the tests' temporary files in memory. The tests of all packages share one
// Firestore emulator.
//
//	runtests [-again=N] [-every=N] [-without="./a ./b/..."] [-race -shuffle=on …] ./...
//
// With -without it leaves out the given packages. With -every=N it runs the tests of every Nth package,
// starting at a random one, and prints which one.
//
// With -again=N, if at most N tests have failed, it runs each of them once more, alone. If they pass then,
// the run passes and names them as unsteady. A panic, a data race and a package that does not build or ends
// early are never excused.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"touchstone/relay/storetest/emulator"
	"touchstone/scripts/command"
)

func main() {
	command.Run("runtests", func(ctx context.Context) (bool, error) {
		end, err := shareEmulator(os.Args[1:])
		if err == nil {
			err = errors.Join(run(ctx, os.Args[1:], os.Stdout), end())
		}
		if errors.As(err, new(*exec.ExitError)) {
			return false, nil // the summary has reported it
		}
		return true, err
	})
}

// shareEmulator starts the emulator for the tests of all packages, several of which need it, if this machine
// has one.
func shareEmulator(args []string) (end func() error, err error) {
	nothing := func() error { return nil }
	if !slices.Contains(args, "./...") {
		return nothing, nil
	}
	e, err := emulator.Launch()
	if errors.Is(err, emulator.ErrMissing) {
		return nothing, nil // the emulator's tests report that
	}
	if err != nil {
		return nil, err
	}
	return e.Stop, os.Setenv(emulator.Running, e.Address)
}

func run(ctx context.Context, args []string, out io.Writer) error {
	again, err := takeNumber(&args, "-again", 0)
	if err != nil {
		return err
	}
	every, err := takeNumber(&args, "-every", 1)
	if err != nil {
		return err
	}
	without, _ := take(&args, "-without")
	if every > 1 || without != "" {
		if args, err = choose(ctx, args, strings.Fields(without), every, out); err != nil {
			return err
		}
	}
	first, err := suite(ctx, args, out)
	if !errors.As(err, new(*exec.ExitError)) || !first.mayBeUnsteady(again) {
		return err
	}
	for pkg, tests := range first.failures {
		pattern := "^(" + strings.Join(tests, "|") + ")$"
		fmt.Fprintf(out, "once more, alone: %s of %s\n", strings.Join(tests, " and "), pkg)
		second, err := suite(ctx, inPlaceOfPackages(args, "-count=1", "-run", pattern, pkg), out)
		if err != nil || second.passed == 0 {
			return errors.Join(err, first.err)
		}
	}
	fmt.Fprintf(out, "UNSTEADY: what failed among others and passed alone waits for the wrong thing: %v\n", first.failures)
	return nil
}

// take removes one of this program's own flags from the arguments, and returns its value. After the packages
// come flags of the tests, which may have the same name.
func take(args *[]string, name string) (value string, found bool) {
	for i, arg := range *args {
		if isPackage(arg) {
			break
		}
		if value, found = strings.CutPrefix(arg, name+"="); found {
			*args = slices.Concat((*args)[:i], (*args)[i+1:])
			return value, true
		}
	}
	return "", false
}

// takeNumber is take for a flag with a number, with a default.
func takeNumber(args *[]string, name string, otherwise int) (int, error) {
	text, found := take(args, name)
	if !found {
		return otherwise, nil
	}
	number, err := strconv.Atoi(text)
	if err != nil || number < 0 {
		return 0, fmt.Errorf("%s=%s takes a number, such as %s=2", name, text, name)
	}
	return number, nil
}

func isPackage(arg string) bool { return strings.HasPrefix(arg, "./") }

// choose replaces ./... with every nth of the packages that have tests, without some packages.
func choose(ctx context.Context, args, without []string, every int, out io.Writer) ([]string, error) {
	all, err := withTests(ctx, "./...")
	if err != nil {
		return nil, err
	}
	if len(without) > 0 {
		left, err := withTests(ctx, without...)
		if err != nil {
			return nil, err
		}
		all = slices.DeleteFunc(all, func(pkg string) bool { return slices.Contains(left, pkg) })
	}
	first := rand.IntN(every)
	var chosen []string
	for i := first; i < len(all); i += every {
		chosen = append(chosen, all[i])
	}
	if every > 1 {
		fmt.Fprintf(out, "every %d packages, from number %d on: %d of %d\n", every, first+1, len(chosen), len(all))
	}
	return inPlaceOfPackages(args, chosen...), nil
}

// withTests returns the packages matching some patterns that have tests, each as a relative path.
func withTests(ctx context.Context, patterns ...string) ([]string, error) {
	const each = `{{if or .TestGoFiles .XTestGoFiles}}{{.Module.Path}} {{.ImportPath}}{{end}}`
	list := exec.CommandContext(ctx, "go", append([]string{"list", "-f", each}, patterns...)...)
	list.Stderr = os.Stderr
	text, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("list the packages: %w", err)
	}
	var all []string
	for line := range strings.Lines(string(text)) {
		module, pkg, _ := strings.Cut(strings.TrimSpace(line), " ")
		all = append(all, "."+strings.TrimPrefix(pkg, module))
	}
	return all, nil
}

// inPlaceOfPackages replaces the packages of a command line, which may be followed by flags of the tests.
func inPlaceOfPackages(args []string, by ...string) []string {
	first := max(0, slices.IndexFunc(args, isPackage))
	return slices.Concat(args[:first], by, slices.DeleteFunc(slices.Clone(args[first:]), isPackage))
}

// suite runs go test with these arguments, and reports the result.
func suite(ctx context.Context, args []string, out io.Writer) (*summary, error) {
	// Many tests wait for processes and disks: running twice as many packages as there are cores keeps the
	// cores busy.
	flags := []string{"test", "-json", "-p", strconv.Itoa(2 * runtime.NumCPU())}
	cmd := exec.CommandContext(ctx, "go", append(flags, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stderr = os.Stderr
	remove, err := inMemory(cmd)
	if err != nil {
		return nil, fmt.Errorf("put temporary files into memory: %w", err)
	}
	defer remove()
	events, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start go test: %w", err)
	}
	s := &summary{out: out, began: time.Now(), said: map[string][]string{}, failures: map[string][]string{}}
	read := s.read(events)
	s.err = errors.Join(read, cmd.Wait())
	s.close()
	return s, s.err
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
	// said is the output of each test or package since it began.
	said                    map[string][]string
	passed, failed, skipped int
	// broken are the failed packages; failures are the names of their failed tests.
	broken   []string
	failures map[string][]string
	// steady says that something failed which also fails alone: a panic, a data race, a package that does not
	// build or ends early.
	steady bool
	wants  []string
	err    error
}

// mayBeUnsteady reports whether at most the given number of tests failed, and nothing that is never excused.
func (s *summary) mayBeUnsteady(most int) bool {
	count := 0
	for _, tests := range s.failures {
		count += len(tests)
	}
	return !s.steady && count > 0 && count <= most
}

// never matches output of failures that are not a matter of chance.
var never = regexp.MustCompile(`(?m)^panic: |^fatal error: |WARNING: DATA RACE|race detected during execution`)

// maxLine bounds a line of the stream, in bytes.
const maxLine = 16 << 20

func (s *summary) read(events io.Reader) error {
	lines := bufio.NewScanner(events)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Fprintln(s.out, lines.Text()) // printed by go itself
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
		text := strings.Join(said, "")
		fmt.Fprint(s.out, text)
		s.steady = s.steady || never.MatchString(text)
		if name, _, _ := strings.Cut(e.Test, "/"); !slices.Contains(s.failures[e.Package], name) {
			s.failures[e.Package] = append(s.failures[e.Package], name)
		}
	case "skip":
		s.skipped++
		if want := reason(said); !slices.Contains(s.wants, want) {
			s.wants = append(s.wants, want)
		}
	}
}

func (s *summary) endPackage(e event) {
	if e.Action == "fail" {
		// The output of tests was printed when they ended; a panic, or a race, belongs to the package.
		text := strings.Join(s.said[e.Package+" "], "")
		fmt.Fprint(s.out, text)
		s.steady = s.steady || never.MatchString(text) || s.failures[e.Package] == nil
		s.broken = append(s.broken, e.Package)
		return
	}
	if e.Action == "pass" {
		fmt.Fprintf(s.out, "ok  \t%s\t%.1fs\n", e.Package, e.Elapsed)
	}
}

// reason returns why a test was skipped: its output, without the position in the source and without the lines
// of the runner.
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

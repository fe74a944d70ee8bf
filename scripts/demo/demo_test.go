package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// bin holds the built programs and the demo itself; empty with -short.
var bin string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(func() int {
		if testing.Short() {
			return m.Run()
		}
		var err error
		if bin, err = os.MkdirTemp("", "demo-test-"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(bin)
		for _, p := range append([]string{"scripts/demo"}, programs...) {
			cmd := exec.Command("go", "build", "-trimpath", "-o", programIn(bin, p), "touchstone/"+p)
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as the demo builds: what is in Go's cache is of use to both
			if out, err := cmd.CombinedOutput(); err != nil {
				fmt.Fprintf(os.Stderr, "build the demo: %v\n%s", err, out)
				return 1
			}
		}
		return m.Run()
	}())
}

// trial is one run of the demo's binary, which sees only directories of the test's.
type trial struct {
	t         *testing.T
	cmd       *exec.Cmd
	out       *bufio.Reader
	errors    bytes.Buffer
	home, tmp string
}

func startDemo(t *testing.T, programs string, args ...string) *trial {
	return startDemoIn(t, nil, programs, args...)
}

func startDemoIn(t *testing.T, env []string, programs string, args ...string) *trial {
	t.Helper()
	if testing.Short() {
		t.Skip("runs the whole demo, which -short leaves out")
	}
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	r := &trial{t: t, home: t.TempDir(), tmp: t.TempDir()}
	program := (&demo{options: options{bin: bin}}).program("scripts/demo")
	r.cmd = exec.CommandContext(t.Context(), program, append([]string{"--bin", programs}, args...)...)
	r.cmd.Env = append(os.Environ(), "HOME="+r.home, "USERPROFILE="+r.home, "TMPDIR="+r.tmp, "TMP="+r.tmp, "TEMP="+r.tmp,
		"GOCACHE="+strings.TrimSpace(string(cache)), "GITHUB_TOKEN=of-the-user", "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "XDG_CACHE_HOME=")
	r.cmd.Env = append(r.cmd.Env, env...)
	r.cmd.Stderr = &r.errors
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.out = bufio.NewReader(out)
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return r
}

// wait reads the rest of the output and returns it with the exit code.
func (r *trial) wait() (string, int) {
	r.t.Helper()
	out, err := io.ReadAll(r.out)
	if err != nil {
		r.t.Fatal(err)
	}
	err = r.cmd.Wait()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		r.t.Fatal(err)
	}
	return string(out), r.cmd.ProcessState.ExitCode()
}

// nothingLeft checks that the run left neither files nor processes.
func (r *trial) nothingLeft() {
	r.t.Helper()
	for _, dir := range []string{r.home, r.tmp} {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			// The go command itself counts its runs below the user's settings.
			if entry != nil && entry.IsDir() && strings.HasSuffix(filepath.ToSlash(path), "go/telemetry") {
				return fs.SkipDir
			}
			if err == nil && !entry.IsDir() {
				r.t.Errorf("left behind: %s", path)
			}
			return err
		})
		if err != nil {
			r.t.Error(err)
		}
	}
	left, err := filepath.Glob(filepath.Join(r.tmp, "*"))
	if err != nil || len(left) > 0 {
		r.t.Errorf("left behind: %s (%v)", left, err)
	}
	for _, pid := range processesWith(r.t, "HOME="+r.tmp) {
		r.t.Errorf("the process %s is left: %s", pid.id, pid.command)
	}
}

type found struct{ id, command string }

// processesWith lists the processes with a text in their environment, where the
// system tells.
func processesWith(t *testing.T, text string) []found {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Log("processes are not looked for: only Linux tells the environment of each")
		return nil
	}
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || len(files) == 0 {
		t.Fatalf("list processes: %v", err)
	}
	var list []found
	for _, file := range files {
		// A process can end at any time and others belong to somebody else.
		if env, err := os.ReadFile(file); err == nil && bytes.Contains(env, []byte(text)) {
			command, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
			list = append(list, found{filepath.Base(filepath.Dir(file)), strings.ReplaceAll(string(command), "\x00", " ")})
		}
	}
	return list
}

var lastLine = regexp.MustCompile(`^demo: acme/app#1 merged after \d+ rounds in \d+\.\ds$`)

// TestTwoDemosAtOnce runs one demo with the scripted model and one with the user's own claude.
func TestTwoDemosAtOnce(t *testing.T) {
	for model, start := range map[string]func(t *testing.T) *trial{
		"scripted":                func(t *testing.T) *trial { return startDemo(t, bin) },
		"claude, with your login": startDemoOfClaude,
	} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			out, code := r.wait()
			lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
			if code != 0 || !lastLine.MatchString(lines[len(lines)-1]) {
				t.Fatalf("exit code %d and last line %q, want 0 and the merge\n%s%s", code, lines[len(lines)-1], out, r.errors.String())
			}
			for _, want := range []string{"REQUEST_CHANGES", "✗ failure", "pushes a fix", "✓ success", "APPROVE", "8 of 8 findings fixed"} {
				if !strings.Contains(out, want) {
					t.Errorf("the timeline lacks %q:\n%s", want, out)
				}
			}
			if !strings.Contains(out, model) || model != "scripted" && strings.Contains(out, "scripted") {
				t.Errorf("the model is not said to be %s:\n%s", model, out)
			}
			if strings.Contains(out, "\x1b") {
				t.Error("the output is coloured although it goes to a pipe")
			}
			r.nothingLeft()
		})
	}
}

// startDemoOfClaude starts a demo with a login, and a claude on the PATH that has to be called.
func startDemoOfClaude(t *testing.T) *trial {
	if runtime.GOOS == "windows" {
		t.Skip("a shell script stands in for claude, and Windows runs none")
	}
	stand, script := t.TempDir(), filepath.Join(t.TempDir(), "script.json")
	data, err := scriptFile()
	if err != nil {
		t.Fatal(err)
	}
	called := filepath.Join(t.TempDir(), "called")
	claude := fmt.Sprintf("#!/bin/sh\necho >> '%s'\nexec '%s' --script '%s' \"$@\"\n", called, filepath.Join(bin, "scriptedmodel"), script)
	for file, text := range map[string]string{script: string(data), filepath.Join(stand, "claude"): claude} {
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r := startDemoIn(t, []string{"CLAUDE_CODE_OAUTH_TOKEN=a-login", "PATH=" + stand + ":" + os.Getenv("PATH")}, bin, "--model", "claude")
	t.Cleanup(func() {
		if _, err := os.Stat(called); err != nil {
			t.Errorf("claude was not called: %v", err)
		}
	})
	return r
}

// TestTeamSetsItselfUp follows the README from nothing to a merge.
func TestTeamSetsItselfUp(t *testing.T) {
	for name, test := range map[string]struct {
		flags []string
		count string
	}{
		"a machine user": {[]string{"--live"}, `17 actions \(11 commands, 6 answers\)`},
		"a GitHub App":   {[]string{"--live", "--app"}, `19 actions \(11 commands, 6 answers, 2 clicks\)`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startDemo(t, bin, test.flags...)
			out, code := r.wait()
			counted := regexp.MustCompile(`(?m)^live: 5 developers, ` + test.count + `, merged acme/app#1 in \d+\.\d minutes$`)
			if code != 0 || !counted.MatchString(out) {
				t.Errorf("exit code %d\n%s%s", code, out, r.errors.String())
			}
			if regexp.MustCompile(`(inv|rly)_[a-z2-7]`).MatchString(out) {
				t.Errorf("the output shows a secret:\n%s", out)
			}
			r.nothingLeft()
		})
	}
}

// TestReadmeSaysWhatIsPlayed compares the commands of the README's set-up section with those of --live.
func TestReadmeSaysWhatIsPlayed(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## Set it up on GitHub\n")
	steps, _, ended := strings.Cut(section, "\n`make live` plays these steps")
	if !found || !ended {
		t.Fatal("the README has no section that sets everything up, or does not say that make live plays it")
	}
	var shown []string
	for line := range strings.Lines(steps) {
		if command, indented := strings.CutPrefix(line, "       "); indented && strings.Contains(command, "touchstone") {
			shown = append(shown, strings.TrimSpace(command))
		}
	}
	if !slices.Equal(shown, typed) {
		t.Errorf("the README has people type\n%s\nand make live plays\n%s", strings.Join(shown, "\n"), strings.Join(typed, "\n"))
	}
}

func TestSignalEndsIt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no signals to send to another process")
	}
	for name, test := range map[string]struct {
		after  string // the output after which the signal comes
		signal syscall.Signal
		code   int
	}{
		"at the start":        {"directory", syscall.SIGINT, 130},
		"before the relay":    {"github ", syscall.SIGINT, 130},
		"before the agents":   {"relay ", syscall.SIGINT, 130},
		"during the review":   {"pull_request.opened", syscall.SIGINT, 130},
		"during the fix":      {"REQUEST_CHANGES", syscall.SIGTERM, 143},
		"when it is approved": {"APPROVE", syscall.SIGHUP, 129},
	} {
		t.Run(name, func(t *testing.T) {
			r := startDemo(t, bin)
			r.readUntil(test.after)
			if err := r.cmd.Process.Signal(test.signal); err != nil {
				t.Fatal(err)
			}
			if out, code := r.wait(); code != test.code || strings.Contains(out, "merged after") {
				t.Errorf("exit code %d, want %d\n%s%s", code, test.code, out, r.errors.String())
			}
			r.nothingLeft()
		})
	}
}

// readUntil reads the output up to the line that holds text, and returns it.
func (r *trial) readUntil(text string) (read string) {
	r.t.Helper()
	for !strings.Contains(read, text) {
		line, err := r.out.ReadString('\n')
		if err != nil {
			r.t.Fatalf("the output ended before %q: %v\n%s%s", text, err, read, r.errors.String())
		}
		read += line
	}
	return read
}

func TestKeepLeavesItRunningUntilInterrupted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no signals to send to another process")
	}
	dir := filepath.Join(t.TempDir(), "kept")
	r := startDemo(t, bin, "--keep", "--dir", dir)
	why := regexp.MustCompile(`(?m)^  why +(.*)$`).FindStringSubmatch(r.readUntil("merged after"))
	if why == nil {
		t.Fatal("it does not tell how to ask why the pull request was merged")
	}
	out, err := exec.Command("sh", "-c", why[1]).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "\nMerged as ") || strings.Contains(string(out), "lacked") ||
		strings.Contains(string(out), "COMMENTED") {
		t.Errorf("%s: %v\n%s", why[1], err, out)
	}
	if runtime.GOOS == "linux" && len(processesWith(t, "HOME="+dir)) < 4 {
		t.Errorf("running: %v, want the two servers and the two agents", processesWith(t, "HOME="+dir))
	}
	if err := r.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if out, code := r.wait(); code != 130 {
		t.Errorf("exit code %d, want 130\n%s%s", code, out, r.errors.String())
	}
	if left := processesWith(t, "HOME="+dir); len(left) > 0 {
		t.Errorf("left running: %v", left)
	}
	if logs, err := filepath.Glob(filepath.Join(dir, "*.log")); err != nil || len(logs) != 4 {
		t.Errorf("logs kept: %v (%v), want 4", logs, err)
	}
}

func TestBrokenProgramIsReportedInASentence(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the demo's binary, which -short leaves out")
	}
	broken := t.TempDir()
	d := demo{options: options{bin: broken}}
	for _, p := range programs {
		data, err := os.ReadFile((&demo{options: options{bin: bin}}).program("scripts/scriptedmodel"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(d.program(p), data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	there, path := t.TempDir(), os.Getenv("PATH")
	for name, test := range map[string]struct {
		programs string
		args     []string
		path     string
		code     int
		says     string
	}{
		"a program ends":      {broken, nil, path, 1, "github ended with exit status 1"},
		"a program is absent": {there, nil, path, 1, "leave out --bin"},
		"the directory is":    {bin, []string{"--dir", there}, path, 1, "make the demo's directory"},
		"unknown model":       {bin, []string{"--model", "parrot"}, path, 2, "--model is scripted or claude"},
		"unknown flag":        {bin, []string{"--fast"}, path, 2, "--help"},
		"no claude":           {bin, []string{"--model", "claude"}, there, 1, "no claude on the PATH"},
		"no go":               {bin, nil, there, 1, "no go on the PATH"},
	} {
		t.Run(name, func(t *testing.T) {
			r := startDemoIn(t, []string{"PATH=" + test.path}, test.programs, test.args...)
			if _, code := r.wait(); code != test.code || !strings.Contains(r.errors.String(), test.says) {
				t.Errorf("exit code %d and %q, want %d and %q", code, r.errors.String(), test.code, test.says)
			}
			r.nothingLeft()
		})
	}
}

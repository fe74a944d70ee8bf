package conformance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"touchstone/agent/engine"
	"touchstone/agent/engine/enginetest"
	"touchstone/worktree/await"
)

// wrapper makes a shell script that is to be run with the CLI's command line, and
// does something of its own besides.
func wrapper(t *testing.T, script string) []string {
	t.Helper()
	onUnix(t)
	path := filepath.Join(t.TempDir(), "wrapper")
	enginetest.Program(t, path, "#!/bin/sh\n"+script+"\n")
	return []string{path}
}

func onUnix(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the program of this test is one for a Unix shell")
	}
}

// testNoise has the CLI print what is no event, what no version has printed yet,
// and what is not even text.
func testNoise(t *testing.T, s subject) {
	b := newBench(t, s, wrapper(t, `
printf 'a warning\n{"half\n[]\n42\n{"type":"novelty","x":[1]}\n{"type":7}\n\377\376\n{"type":"nov\377elty"}\n'
echo 'to the error stream' >&2
exec "$@"`), enginetest.Turn{Text: []string{"Hello."}})
	var raw []string
	req := b.reviewer()
	req.Progress = func(p engine.Progress) {
		if p.Kind == engine.ProgressRaw {
			raw = append(raw, p.Text)
		}
	}
	if result := b.run(t, req); result.Text != "Hello." {
		t.Errorf("text = %q", result.Text)
	}
	if kept := strings.Join(raw, "\n"); !strings.Contains(kept, "a warning") || !strings.Contains(kept, "novelty") {
		t.Errorf("kept %q; want the unknown lines", kept)
	}
}

func testEndlessLine(t *testing.T, s subject) {
	b := newBench(t, s, wrapper(t, `head -c 20000000 /dev/zero | tr '\0' x
echo
exec "$@"`), enginetest.Turn{Text: []string{"Hello."}})
	if result := b.run(t, b.reviewer()); result.Text != "Hello." {
		t.Errorf("text = %.80q", result.Text)
	}
}

// testFlood has the CLI print more than anybody should have to keep.
func testFlood(t *testing.T, s subject) {
	b := newBench(t, s, wrapper(t, `yes '{"type":"novelty","text":"of which there is no end"}' | head -c 10000000
echo
exec "$@"`), enginetest.Turn{Text: []string{"Hello."}})
	if result := b.run(t, b.reviewer()); result.Text != "Hello." {
		t.Errorf("text = %.80q", result.Text)
	}
}

// testCrash kills the CLI while the provider thinks.
func testCrash(t *testing.T, s subject) {
	file := filepath.Join(t.TempDir(), "pid")
	b := newBench(t, s, wrapper(t, `exec 9<&0
"$@" <&9 &
echo $! > `+file+`.new && mv `+file+`.new `+file+`
wait $!`), enginetest.Turn{Text: []string{"never"}, Hang: enginetest.HangMid})
	b.program.Confine = false // or the wrapper could write nothing
	b.reset(t)
	ended := make(chan error, 1)
	go func() {
		_, err := enginetest.Run(t.Context(), b.engine, b.reviewer(), "Go on.")
		ended <- err
	}()
	until(t, ended, func() bool { return len(b.provider.Calls()) > 0 })
	pid, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("kill", "-KILL", strings.TrimSpace(string(pid))).CombinedOutput(); err != nil {
		t.Fatalf("kill: %v %s", err, out)
	}
	wantClass(t, <-ended, engine.Crash)
}

// testUnknownFlag has the CLI be of a version that does not know a flag it is given.
func testUnknownFlag(t *testing.T, s subject) {
	b := newBench(t, s, wrapper(t, `exec "$@" --no-version-has-this`), enginetest.Turn{Text: []string{"never"}})
	if failure := b.fails(t, t.Context(), b.reviewer(), engine.Invalid); !strings.Contains(failure.Message,
		"update this program, or install a version of ") {
		t.Errorf("message without a remedy: %s", failure.Message)
	}
}

// outlast puts a program into the checkout, since a sandbox may show nothing else, that
// ignores every request to end and leaves a file behind when it runs.
func outlast(t *testing.T, b *bench) (program, pid string) {
	t.Helper()
	onUnix(t)
	program, pid = filepath.Join(b.dir, "outlast"), filepath.Join(b.dir, "pid")
	enginetest.Write(t, program, "#!/bin/sh\ntrap '' TERM HUP INT\n"+
		"echo $$ > "+pid+".tmp && mv "+pid+".tmp "+pid+"\nwhile :; do sleep 60 || :; done\n")
	return program, pid
}

// testToolsEnd cancels a session while its shell command runs.
func testToolsEnd(t *testing.T, s subject) {
	b := newBench(t, s, nil)
	program, pid := outlast(t, b)
	play(t, b, s.shell(program))
	b.cancelled(t, b.author(program), program, func() bool {
		_, err := os.Stat(pid)
		return err == nil
	})
}

// testDeaf cancels a session whose CLI ignores that.
func testDeaf(t *testing.T, s subject) {
	deaf := wrapper(t, `trap '' TERM HUP INT
"$@"
while :; do sleep 60 || :; done`)
	b := newBench(t, s, deaf, enginetest.Turn{Hang: enginetest.HangBefore})
	b.cancelled(t, b.reviewer(), deaf[0], func() bool { return len(b.provider.Calls()) > 0 })
}

// testNoEnd has the CLI answer and not end, as versions of each of them have done. Its answer counts, and so does the
// next turn's.
func testNoEnd(t *testing.T, s subject) {
	b := newBench(t, s, wrapper(t, `"$@"
while :; do sleep 60 || :; done`), enginetest.Turn{Text: []string{"Hello."}}, enginetest.Turn{Text: []string{"Again."}})
	session, err := b.engine.Open(t.Context(), b.author())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Hello.", "Again."} {
		if result, err := session.Ask(t.Context(), "Go on."); err != nil || result.Text != want {
			t.Errorf("text = %q, %v; want %s", result.Text, err, want)
		}
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
}

// cancelled cancels a session once a program runs in it, of which nothing may be left.
func (b *bench) cancelled(t *testing.T, req engine.Request, program string, runs func() bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := enginetest.Run(ctx, b.engine, req, "Wait.")
		ended <- err
	}()
	until(t, ended, runs)
	if n := running(t, program); n == 0 {
		t.Fatal("the program does not run")
	}
	cancel()
	wantClass(t, <-ended, engine.Cancelled)
	if n := running(t, program); n > 0 {
		t.Errorf("%d processes of the program outlived the session", n)
	}
}

// testHungTool has a session wait for a command that never ends. A CLI that asks the
// model meanwhile gets no answer.
func testHungTool(t *testing.T, s subject) {
	b := newBench(t, s, nil)
	program, pid := outlast(t, b)
	play(t, b, s.shell(program), enginetest.Turn{Hang: enginetest.HangBefore})
	req := b.author(program)
	req.ToolTimeout = b.idle
	_, err := b.idles(t, req)
	wantClass(t, err, engine.Idle)
	if _, err := os.Stat(pid); err != nil {
		t.Errorf("stopped before the tool ran: %v", err)
	}
	if n := running(t, program); n > 0 {
		t.Errorf("%d processes of the tool outlived the session", n)
	}
}

// testQuietTool has a session wait for a command that is silent for longer than anything else may be.
func testQuietTool(t *testing.T, s subject) { quietTool(t, newBench(t, s, nil)) }

// testQuietDirect is that without a gateway, where it is the CLI that has to tell of the command.
func testQuietDirect(t *testing.T, s subject) {
	s.idle = max(s.idle, 35*time.Second) // claude does so each 30 seconds
	b := newBench(t, s, nil)
	b.program.Direct = true
	quietTool(t, b)
}

func quietTool(t *testing.T, b *bench) {
	onUnix(t)
	s, program, released := b.subject, filepath.Join(b.dir, "quiet"), filepath.Join(b.dir, "released")
	enginetest.Write(t, program, "#!/bin/sh\nsleep "+strconv.Itoa(int(2*s.idle/time.Second))+"; touch "+released+"\n")
	b.provide(t, enginetest.NewThinker(t, func(n int, call enginetest.Call) enginetest.Turn {
		running := stillRuns.FindSubmatch(call.Body)
		switch {
		case n == 0:
			return s.shell(program)
		case running != nil && !strings.Contains(string(call.Body), "Process exited with code"):
			return enginetest.Turn{Tool: "write_stdin", Input: map[string]any{"session_id": json.Number(running[1]), "chars": ""}}
		}
		return enginetest.Turn{Text: []string{"Done."}}
	}))
	result, err := b.idles(t, b.author(program))
	if err != nil || result.Text != "Done." {
		t.Errorf("text = %q, %v", result.Text, err)
	}
	if _, err := os.Stat(released); err != nil {
		t.Errorf("the command did not come to its end: %v", err)
	}
}

// running counts the live processes that have the path in their command line. The
// tool may see another process id than this test, in its sandbox.
func running(t *testing.T, path string) int {
	t.Helper()
	out, err := exec.Command("ps", "-A", "-o", "stat=,args=").Output()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, path) && !strings.HasPrefix(line, "Z") {
			n++
		}
	}
	return n
}

// until waits for a condition while a session runs.
func until(t *testing.T, ended <-chan error, holds func() bool) {
	t.Helper()
	err := await.Condition(t.Context(), func() (bool, error) {
		select {
		case err := <-ended:
			return false, fmt.Errorf("the session ended by itself: %w", err)
		default:
			return holds(), nil
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

func wantClass(t *testing.T, err error, class engine.Class) {
	t.Helper()
	failure, ok := err.(*engine.Error)
	if !ok || failure.Class != class {
		t.Errorf("error = %v (%+v); want one of class %s", err, failure, class)
	}
}

package process_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"touchstone/agent/engine"
	"touchstone/agent/engine/process"
)

// actVariable makes this test binary play a child instead of testing.
const actVariable = "PROCESS_TEST_ACT"

func TestMain(m *testing.M) {
	process.Bootstrap()
	if act := os.Getenv(actVariable); act != "" {
		actors[act]()
		return
	}
	os.Exit(m.Run())
}

// actors are the children that the tests supervise.
var actors = map[string]func(){
	"echo": func() {
		in := bufio.NewScanner(os.Stdin)
		in.Buffer(nil, 1<<20)
		for in.Scan() {
			fmt.Println(in.Text())
		}
		fmt.Fprintln(os.Stderr, "to the error stream")
		os.Exit(7)
	},
	// ask reads an answer to each of its questions.
	"ask": func() {
		in := bufio.NewScanner(os.Stdin)
		for i := range 3 {
			fmt.Println("question", i)
			if !in.Scan() || in.Text() != fmt.Sprintf("answer to question %d", i) {
				os.Exit(1)
			}
		}
		os.Exit(7)
	},
	"hang": forever,
	// mute lets go of its output and goes on.
	"mute": func() {
		os.Stdout.Close()
		os.Stderr.Close()
		forever()
	},
	"chatter": func() {
		for range time.Tick(20 * time.Millisecond) {
			fmt.Println("still here")
		}
	},
	"flood": func() {
		line := strings.Repeat("x", 1<<20)
		for {
			fmt.Print(line)
		}
	},
	"complaints": func() {
		line := strings.Repeat("x\n", 1<<10)
		for {
			fmt.Fprint(os.Stderr, line)
		}
	},
	"long line": func() {
		for range 17 {
			fmt.Print(strings.Repeat("x", 1<<20))
		}
		fmt.Println()
		fmt.Print("after")
	},
	"noisy error": func() {
		fmt.Fprint(os.Stderr, strings.Repeat("x", 1<<20)+"the end")
	},
	// hesitant says more when it is asked to end.
	"hesitant": func() {
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, syscall.SIGTERM)
		fmt.Println("answer")
		<-asked
		fmt.Println("no, another one")
	},
	"environment": func() { fmt.Println(strings.Join(os.Environ(), "\n")) },
	"inherit": func() {
		line, err := bufio.NewReader(os.NewFile(3, "inherited")).ReadString('\n')
		fmt.Println(line, err)
	},
	// stubborn ignores TERM, as do a child in its group and one in a session
	// of its own; it prints all their process ids.
	"stubborn": func() {
		signal.Ignore(syscall.SIGTERM)
		fmt.Println(os.Getpid())
		fmt.Println(spawn("stubborn child", false))
		fmt.Println(spawn("stubborn child", true))
		forever()
	},
	"stubborn child": func() {
		signal.Ignore(syscall.SIGTERM)
		fmt.Fprintln(os.NewFile(3, "ready"), "ready")
		forever()
	},
	// deserter leaves a process behind that has its output open.
	"deserter": func() { fmt.Println(spawn("stubborn child", true)) },
	// parent supervises a child and is itself killed by the test.
	"parent": func() { supervise("stubborn") },
}

// supervise runs an act as a child and passes on what it prints.
func supervise(act string) {
	_, err := process.Command{
		Args: []string{os.Args[0]}, Env: []string{actVariable + "=" + act},
		Timeout: time.Hour, IdleTimeout: time.Hour,
		Line: func(line []byte) error { fmt.Println(string(line)); return nil },
	}.Run(context.Background())
	fmt.Println(err)
}

// forever is not an empty select, which the runtime would call a deadlock.
func forever() { <-time.After(time.Hour) }

// spawn starts another actor and gives its process id once it is set up.
func spawn(act string, ownSession bool) int {
	ready, write, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), actVariable+"="+act)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{write}
	detach(cmd, ownSession)
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	write.Close()
	if _, err := bufio.NewReader(ready).ReadString('\n'); err != nil {
		panic(err)
	}
	return cmd.Process.Pid
}

// actor is a command that plays an act; its lines are gathered in *lines.
func actor(act string, lines *[]string) process.Command {
	return process.Command{
		Args: []string{os.Args[0]}, Env: []string{actVariable + "=" + act},
		Timeout: time.Minute, IdleTimeout: time.Minute,
		Line: func(line []byte) error {
			*lines = append(*lines, string(line))
			return nil
		},
	}
}

func wantClass(t *testing.T, err error, class engine.Class) {
	t.Helper()
	var failure *engine.Error
	if !errors.As(err, &failure) || failure.Class != class {
		t.Errorf("error = %v; want one of class %s", err, class)
	}
}

func TestChildEndsByItself(t *testing.T) {
	t.Parallel()
	var lines []string
	cmd := actor("echo", &lines)
	cmd.Dir = t.TempDir()
	cmd.Stdin = "one\ntwo\n"
	report, err := cmd.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(lines, ","); got != "one,two" {
		t.Errorf("lines = %q", got)
	}
	if report.Exit != "exit status 7" || report.Stderr != "to the error stream\n" {
		t.Errorf("report = %+v", report)
	}
	if report.FirstByte <= 0 || report.Duration < report.FirstByte {
		t.Errorf("first byte after %s of %s", report.FirstByte, report.Duration)
	}
}

func TestChildIsAnsweredWhileItRuns(t *testing.T) {
	t.Parallel()
	var lines []string
	cmd := actor("ask", &lines)
	cmd.Input = process.NewInput()
	cmd.Line = func(line []byte) error {
		_, err := fmt.Fprintf(cmd.Input, "answer to %s\n", line)
		return err
	}
	report, err := cmd.Run(context.Background())
	if err != nil || report.Exit != "exit status 7" {
		t.Errorf("report = %+v, %v; want each question answered", report, err)
	}
	if _, err := cmd.Input.Write([]byte("too late")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("writing to a child that is gone: %v", err)
	}
}

func TestChildThatReadsNothingIsStopped(t *testing.T) {
	t.Parallel()
	var lines []string
	cmd := actor("hang", &lines)
	cmd.Input, cmd.Timeout = process.NewInput(), time.Second
	if _, err := cmd.Input.Write(make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.Input.Write(make([]byte, 64<<20)); err == nil {
		t.Error("there is no bound to what waits for a child")
	}
	_, err := cmd.Run(context.Background())
	wantClass(t, err, engine.Timeout)
}

func TestEnvironmentIsOnlyWhatIsGiven(t *testing.T) {
	t.Parallel()
	var lines []string
	if _, err := actor("environment", &lines).Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		name, _, _ := strings.Cut(line, "=")
		// Windows adds SYSTEMROOT to every environment.
		if name != actVariable && name != "TOUCHSTONE_SESSION" && name != "SYSTEMROOT" {
			t.Errorf("the child sees %s", line)
		}
	}
}

func TestBrokenOffForOutput(t *testing.T) {
	t.Parallel()
	enough := errors.New("enough")
	var lines []string
	cmd := actor("chatter", &lines)
	cmd.Line = func([]byte) error { return enough }
	if _, err := cmd.Run(context.Background()); !errors.Is(err, enough) {
		t.Errorf("error = %v; want what Line returned", err)
	}
}

// TestEndlessOutputIsStopped, whatever the lines are, long before the time is over.
func TestEndlessOutputIsStopped(t *testing.T) {
	t.Parallel()
	for _, stream := range []string{"flood", "complaints"} {
		var lines []string
		cmd := actor(stream, &lines)
		cmd.MaxOutput = 1 << 20
		cmd.Line = func([]byte) error { return nil }
		_, err := cmd.Run(context.Background())
		if failure, _ := errors.AsType[*engine.Error](err); failure == nil || failure.Class != engine.BadOutput ||
			!strings.Contains(failure.Message, "printed more than 1 MiB") {
			t.Errorf("%s: error = %v", stream, err)
		}
	}
}

func TestLongLineIsLeftOut(t *testing.T) {
	t.Parallel()
	var lines []string
	if _, err := actor("long line", &lines).Run(context.Background()); err != nil || len(lines) != 1 || lines[0] != "after" {
		t.Errorf("%.20q, %v; want only the next line", lines, err)
	}
}

func TestStandardErrorIsBounded(t *testing.T) {
	t.Parallel()
	var lines []string
	report, err := actor("noisy error", &lines).Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Stderr) > process.MaxStderr || !strings.HasSuffix(report.Stderr, "the end") {
		t.Errorf("kept %d bytes ending in %.20q", len(report.Stderr), report.Stderr)
	}
}

func TestRunStopsTheChildAndSaysWhy(t *testing.T) {
	t.Parallel()
	cancelledNow, cancel := context.WithCancel(context.Background())
	cancel()
	for _, test := range []struct {
		name, act     string
		idle, timeout time.Duration
		ctx           context.Context
		class         engine.Class
	}{
		{"silent child", "hang", 50 * time.Millisecond, time.Minute, context.Background(), engine.Idle},
		{"child without output", "mute", time.Second, 10 * time.Second, context.Background(), engine.Idle},
		{"endless child", "chatter", time.Minute, 200 * time.Millisecond, context.Background(), engine.Timeout},
		{"flooding child", "flood", time.Minute, 200 * time.Millisecond, context.Background(), engine.Timeout},
		{"cancelled before the start", "hang", time.Minute, time.Minute, cancelledNow, engine.Cancelled},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var lines []string
			cmd := actor(test.act, &lines)
			cmd.IdleTimeout, cmd.Timeout = test.idle, test.timeout
			_, err := cmd.Run(test.ctx)
			wantClass(t, err, test.class)
		})
	}
}

// TestAChildThatIsOverNeedNotEnd: what it has said counts, whether it is silent after that or not.
func TestAChildThatIsOverNeedNotEnd(t *testing.T) {
	t.Parallel()
	for _, act := range []string{"chatter", "stubborn"} {
		t.Run(act, func(t *testing.T) {
			t.Parallel()
			var lines []string
			cmd := actor(act, &lines)
			cmd.Over = func() bool { return len(lines) > 0 }
			if report, err := cmd.Run(context.Background()); err != nil || !report.Lingered || len(lines) == 0 {
				t.Errorf("%+v, %v after %d lines", report, err, len(lines))
			}
		})
	}
}

// TestAChildThatGoesOnIsNotOver: it had more to say.
func TestAChildThatGoesOnIsNotOver(t *testing.T) {
	t.Parallel()
	var lines []string
	cmd := actor("chatter", &lines)
	cmd.Timeout = 3 * time.Second
	cmd.Over = func() bool { return len(lines) == 1 }
	report, err := cmd.Run(context.Background())
	if wantClass(t, err, engine.Timeout); report.Lingered {
		t.Errorf("stopped after %d lines", len(lines))
	}
}

// TestAChildThatAsksIsNotOver: what it has said may not be all.
func TestAChildThatAsksIsNotOver(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]func(*process.Command){
		"it waits for an answer": func(c *process.Command) { c.Asking = func() bool { return true } },
		"it gets answers": func(c *process.Command) {
			alive := make(chan struct{})
			c.Alive = alive
			go func() {
				for range time.Tick(100 * time.Millisecond) {
					select {
					case alive <- struct{}{}:
					case <-t.Context().Done():
						return
					}
				}
			}()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var lines []string
			cmd := actor("stubborn", &lines)
			cmd.Timeout = 3 * time.Second
			cmd.Over = func() bool { return len(lines) > 0 }
			wait(&cmd)
			_, err := cmd.Run(context.Background())
			wantClass(t, err, engine.Timeout)
		})
	}
}

// TestSignsOfLifeDeferTheLimitOfSilence hears of a silent child from elsewhere, so that it comes to the
// end of its time and not of the patience with its silence.
func TestSignsOfLifeDeferTheLimitOfSilence(t *testing.T) {
	t.Parallel()
	alive := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		for {
			select {
			case alive <- struct{}{}:
			case <-ended:
				return
			}
		}
	}()
	var lines []string
	cmd := actor("hang", &lines)
	cmd.Alive, cmd.IdleTimeout, cmd.Timeout = alive, 500*time.Millisecond, 2*time.Second
	_, err := cmd.Run(context.Background())
	close(ended)
	wantClass(t, err, engine.Timeout)
}

func TestCancelCarriesItsCause(t *testing.T) {
	t.Parallel()
	newer := errors.New("a newer push")
	ctx, cancel := context.WithCancelCause(context.Background())
	var lines []string
	cmd := actor("chatter", &lines)
	cmd.Line = func([]byte) error { cancel(newer); return nil }
	_, err := cmd.Run(ctx)
	wantClass(t, err, engine.Cancelled)
	if !errors.Is(err, newer) {
		t.Errorf("error = %v; want the cause in it", err)
	}
}

func TestProgramThatIsNotThere(t *testing.T) {
	t.Parallel()
	notExecutable := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(notExecutable, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{"no-such-program-anywhere", notExecutable, t.TempDir()} {
		_, err := process.Command{Args: []string{program}, Timeout: time.Minute, IdleTimeout: time.Minute}.Run(context.Background())
		wantClass(t, err, engine.Missing)
	}
}

func TestDirectoryThatIsNotThere(t *testing.T) {
	t.Parallel()
	var lines []string
	cmd := actor("echo", &lines)
	cmd.Dir = filepath.Join(t.TempDir(), "none")
	_, err := cmd.Run(context.Background())
	wantClass(t, err, engine.Invalid)
}

// pids reads the process ids among the lines.
func pids(t *testing.T, lines []string) []int {
	t.Helper()
	var pids []int
	for _, line := range lines {
		pid, err := strconv.Atoi(line)
		if err != nil {
			t.Fatalf("child printed %q", line)
		}
		pids = append(pids, pid)
	}
	return pids
}

package bounded

import (
	"context"
	"encoding/gob"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

// work is a task whose questions say what to do.
var work = NewTask("touchstone-test", func() func(string) string {
	asked := 0
	var kept [][]byte
	return func(q string) string {
		asked++
		switch q {
		case "count":
			return fmt.Sprint(asked)
		case "spin":
			for {
				asked++
			}
		case "grow":
			for {
				kept = append(kept, make([]byte, 1<<20))
				clear(kept[len(kept)-1])
			}
		case "double":
			for n := 1 << 20; ; n *= 2 {
				kept = append(kept, make([]byte, n))
			}
		case "panic":
			panic("no such question")
		case "exit":
			os.Exit(7)
		}
		return strings.Repeat(q, 1000)
	}
})

func TestMain(m *testing.M) {
	Bootstrap(work)
	os.Exit(m.Run())
}

// plenty is more than any question here takes.
var plenty = Bounds{5 * time.Minute, 1 << 30}

func started(t *testing.T, ctx context.Context, bounds Bounds) *Child[string, string] {
	t.Helper()
	c, err := work.Start(ctx, bounds)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.End() })
	return c
}

func TestAChildAnswersOneQuestionAfterTheOther(t *testing.T) {
	for name, c := range map[string]*Child[string, string]{"a process": started(t, t.Context(), plenty), "this process": work.Local()} {
		for _, want := range []string{"1", "2", "3"} {
			if got, err := c.Ask("count"); got != want || err != nil {
				t.Errorf("%s: %q, %v; want %s", name, got, err, want)
			}
		}
		if got, err := c.Ask("long"); len(got) != 4000 || err != nil {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
}

// lacking is the end of a child that allocates much at once: it notices, or the kernel refuses.
const lacking = "took more than 512 MiB of memory"

func TestEndSaysWhatBecameOfTheWork(t *testing.T) {
	for question, test := range map[string]struct {
		bounds Bounds
		want   string
	}{
		"spin":   {Bounds{100 * time.Millisecond, 1 << 30}, "took longer than 100ms"},
		"grow":   {Bounds{5 * time.Minute, 512 << 20}, lacking},
		"double": {Bounds{5 * time.Minute, 512 << 20}, lacking},
		"panic":  {plenty, "failed (exit status 2: panic: no such question)"},
		"exit":   {plenty, "failed (exit status 7)"},
	} {
		c := started(t, t.Context(), test.bounds)
		if a, err := c.Ask(question); err == nil {
			t.Errorf("%s: an answer of %d bytes", question, len(a))
		}
		if got := c.End(); got != test.want && (test.want != lacking || !strings.HasPrefix(got, "failed (exit status ")) {
			t.Errorf("%s: %q; want %q", question, got, test.want)
		}
		if _, err := c.Ask("count"); err == nil {
			t.Errorf("%s: it still answers", question)
		}
	}
}

func TestAContextThatEndsEndsTheChild(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := started(t, ctx, plenty)
	if _, err := c.Ask("count"); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := c.Ask("spin"); err == nil {
		t.Error("an answer")
	}
	if got := c.End(); c.cmd.ProcessState == nil || !strings.HasPrefix(got, "failed (") {
		t.Errorf("the child runs, or %s", got)
	}
}

// TestAChildWithoutAParentEnds closes a child's input, as the system does when its parent ends, while it is busy.
func TestAChildWithoutAParentEnds(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Args = []string{work.name}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	questions := gob.NewEncoder(in)
	for _, v := range []any{plenty.Memory, "spin"} {
		if err := questions.Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestAChildHasNoEnvironment(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux shows the environment of a process")
	}
	t.Setenv("GITHUB_TOKEN", "ghp_secret")
	c := started(t, t.Context(), plenty)
	if got, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", c.cmd.Process.Pid)); err != nil || len(got) > 0 {
		t.Errorf("%q, %v", got, err)
	}
}

func TestATaskThatIsNotNamedIsDoneInTheProcess(t *testing.T) {
	c, err := NewTask("touchstone-other", work.begin).Start(t.Context(), plenty)
	if err != nil || c.cmd != nil {
		t.Fatalf("%v, %v", c, err)
	}
	if got, err := c.Ask("count"); got != "1" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

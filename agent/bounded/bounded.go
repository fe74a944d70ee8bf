// Package bounded runs work of this program in a child process, which is killed when it takes more time or memory than it
// may. It is for work on what strangers wrote: a few lines can make a parser or a comparison take hours or all memory, and
// nothing can interrupt it in the process itself. It stores nothing.
package bounded

import (
	"context"
	"encoding/gob"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Bounds are what all answers of one child may take together.
type Bounds struct {
	// Time is how long the program waits for answers.
	Time time.Duration
	// Memory is in bytes.
	Memory int64
}

const (
	// maxAnswers bounds what is read of a child's answers, in bytes.
	maxAnswers = 16 << 20
	// maxStderr bounds what is kept of what a child writes when it fails, in bytes. The reason comes first.
	maxStderr = 200
	// tooMuch is the exit status of a child that needed more memory than it may.
	tooMuch = 3
)

// Task is work that a child can do: it answers questions of type Q, one after the other. Both types travel as gobs.
type Task[Q, A any] struct {
	name  string
	begin func() func(Q) A
}

// NewTask returns a task. Its name is the one that the system shows for its child; begin returns what answers the
// questions of one child.
func NewTask[Q, A any](name string, begin func() func(Q) A) Task[Q, A] {
	return Task[Q, A]{name, begin}
}

// Work is any [Task].
type Work interface {
	title() string
	serve(from io.Reader, to io.Writer)
}

// inChildren are the names of the tasks that this program does in children.
var inChildren []string

// Bootstrap must be called first in main of every program that reads what strangers wrote, with all tasks that it may
// start. If the program was started by itself for one of them, Bootstrap does that and does not return.
//
// A task that is not named to it is done in the process itself, and without bounds: that is meant for tests and for tools
// that read what is trusted.
func Bootstrap(tasks ...Work) {
	for _, task := range tasks {
		if len(os.Args) == 1 && os.Args[0] == task.title() {
			task.serve(os.Stdin, os.Stdout)
			os.Exit(0)
		}
		inChildren = append(inChildren, task.title())
	}
}

func (t Task[Q, A]) title() string { return t.name }

// serve answers questions until there are no more. When the parent ends, for whatever reason, the system closes the
// pipe, and this process exits at once even if it is still looking for an answer.
func (t Task[Q, A]) serve(from io.Reader, to io.Writer) {
	decoder, encoder := gob.NewDecoder(from), gob.NewEncoder(to)
	var memory int64
	if decoder.Decode(&memory) != nil {
		return
	}
	hold(memory)
	questions := make(chan Q)
	go func() {
		for {
			var q Q
			if decoder.Decode(&q) != nil {
				os.Exit(0)
			}
			questions <- q
		}
	}()
	answer := t.begin()
	for q := range questions {
		if encoder.Encode(answer(q)) != nil {
			return
		}
	}
}

// hold has this process exit when it uses more memory than it may.
func hold(most int64) {
	confine(most)                                     // then Go's runtime ends the process, in one of several ways
	runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0))) // one for the goroutine below
	debug.SetGCPercent(400)                           // this process ends soon
	debug.SetMemoryLimit(most / 8 * 7)                // garbage is collected before it counts
	go func() {
		used := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
		for range time.Tick(10 * time.Millisecond) {
			if metrics.Read(used); used[0].Value.Uint64()-used[1].Value.Uint64() > uint64(most) {
				os.Exit(tooMuch)
			}
		}
	}()
}

// Child is the process that does a task.
type Child[Q, A any] struct {
	local     func(Q) A // answers instead of a process
	cmd       *exec.Cmd
	bounds    Bounds
	left      time.Duration // for further answers
	late      atomic.Bool   // the time was over
	stderr    head
	questions *gob.Encoder
	answers   *gob.Decoder
}

// head keeps the beginning of what is written.
type head struct{ text []byte }

func (h *head) Write(p []byte) (int, error) {
	h.text = append(h.text, p[:min(len(p), maxStderr-len(h.text))]...)
	return len(p), nil
}

// Start starts a child, which takes some 20 ms and is killed when ctx ends. Its environment is empty.
func (t Task[Q, A]) Start(ctx context.Context, bounds Bounds) (*Child[Q, A], error) {
	if !slices.Contains(inChildren, t.name) {
		return t.Local(), nil
	}
	self, err := os.Executable()
	if runtime.GOOS == "linux" {
		self, err = "/proc/self/exe", nil // also after the file was replaced
	}
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Args, cmd.Env = []string{t.name}, []string{}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c := &Child[Q, A]{cmd: cmd, bounds: bounds, left: bounds.Time, questions: gob.NewEncoder(in),
		answers: gob.NewDecoder(io.LimitReader(out, maxAnswers))}
	cmd.Stderr = &c.stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if err := c.questions.Encode(bounds.Memory); err != nil {
		c.End()
		return nil, err
	}
	return c, nil
}

// Local returns a child that is this process itself, without bounds.
func (t Task[Q, A]) Local() *Child[Q, A] { return &Child[Q, A]{local: t.begin()} }

// Ask waits for the answer to a question, and kills the child if it takes too long. After an error there are no more
// answers; End says why.
func (c *Child[Q, A]) Ask(q Q) (a A, err error) {
	if c.local != nil {
		return c.local(q), nil
	}
	asked := time.Now()
	patience := time.AfterFunc(c.left, func() {
		c.late.Store(true)
		_ = c.cmd.Process.Kill()
	})
	defer patience.Stop()
	if err = c.questions.Encode(q); err == nil {
		err = c.answers.Decode(&a)
	}
	c.left -= time.Since(asked)
	return a, err
}

// End kills the child and waits for its end. It says what became of the work, if it was not for this call: "took longer
// than 20s".
func (c *Child[Q, A]) End() string {
	if c.local != nil {
		return ""
	}
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
	switch state := c.cmd.ProcessState; {
	case c.late.Load():
		return fmt.Sprintf("took longer than %s", c.bounds.Time)
	case state.ExitCode() == tooMuch:
		return fmt.Sprintf("took more than %d MiB of memory", c.bounds.Memory>>20)
	default:
		reason, _, _ := strings.Cut(strings.ToValidUTF8(string(c.stderr.text), ""), "\n")
		return fmt.Sprintf("failed (%s)", strings.TrimSuffix(state.String()+": "+reason, ": "))
	}
}

package golang

import (
	"bytes"
	"context"
	"encoding/gob"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// Bounds are what the checks of one program may take; 0 stands for the default of each.
type Bounds struct {
	// Time is how long the program waits for answers, in total.
	Time time.Duration
	// Memory is in bytes.
	Memory int64
}

const (
	// maxTime and maxMemory are the default bounds. The packages of a sheet, at most 4 MiB of text, take a second or two
	// and 100 to 200 MiB.
	maxTime   = 20 * time.Second
	maxMemory = 1 << 30
	// maxAnswers bounds what is read of a child's answers, in bytes.
	maxAnswers = 16 << 20
	// maxStderr bounds what is kept of what a child writes when it fails, in bytes. The reason comes first.
	maxStderr = 4 << 10
)

// childName is the name under which this program starts itself to check types.
const childName = "touchstone-types"

// tooMuch is the exit status of a child that needed more memory than it may.
const tooMuch = 3

// Bootstrap must be called first in main of every program that reads what strangers wrote. If the program was started by
// itself to check types, Bootstrap does that and does not return.
//
// In a program that has not called it, types are checked in the process itself, and without bounds: that is meant for
// tests and for tools that read what is trusted.
func Bootstrap() {
	if len(os.Args) == 1 && os.Args[0] == childName {
		serve(os.Stdin, os.Stdout)
		os.Exit(0)
	}
	bootstrapped = true
}

// bootstrapped says that main has called Bootstrap.
var bootstrapped bool

// serve answers questions until there are no more. When the parent ends, for whatever reason, the system closes the
// pipe, and this process exits at once even if a check is under way.
func serve(from io.Reader, to io.Writer) {
	decoder, encoder := gob.NewDecoder(from), gob.NewEncoder(to)
	var memory int64
	if decoder.Decode(&memory) != nil {
		return
	}
	hold(memory)
	questions := make(chan question)
	go func() {
		for {
			var q question
			if decoder.Decode(&q) != nil {
				os.Exit(0)
			}
			questions <- q
		}
	}()
	c := newChecker()
	for q := range questions {
		if encoder.Encode(c.answer(q)) != nil {
			return
		}
	}
}

// hold has this process exit when it uses more memory than it may.
func hold(most int64) {
	confine(most)
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

// child is the process that checks the types of one program.
type child struct {
	cmd       *exec.Cmd
	in        io.Closer
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

// start starts a child, which ends with ctx. Its environment is empty.
func start(ctx context.Context, bounds Bounds) (*child, error) {
	self, err := os.Executable()
	if runtime.GOOS == "linux" {
		self, err = "/proc/self/exe", nil // also after the file was replaced
	}
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Args, cmd.Env = []string{childName}, []string{}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c := &child{cmd: cmd, in: in, bounds: bounds, left: bounds.Time, questions: gob.NewEncoder(in),
		answers: gob.NewDecoder(io.LimitReader(out, maxAnswers))}
	cmd.Stderr = &c.stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if err := c.questions.Encode(bounds.Memory); err != nil {
		c.end()
		return nil, err
	}
	return c, nil
}

// ask waits for the answer to a question, and kills the child if it takes too long.
func (c *child) ask(q question) (a answer, err error) {
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

// end kills the child and waits for its end. It says what became of the checks, if it was not for this call.
func (c *child) end() string {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
	switch state := c.cmd.ProcessState; {
	case c.late.Load():
		return fmt.Sprintf("took longer than %s", c.bounds.Time)
	case state.ExitCode() == tooMuch, bytes.Contains(c.stderr.text, []byte("out of memory")): // or the kernel refused more
		return fmt.Sprintf("took more than %d MiB of memory", c.bounds.Memory>>20)
	default:
		return fmt.Sprintf("failed (%s)", state)
	}
}

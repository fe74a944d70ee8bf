package process

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
)

// maxInput is how many bytes may be buffered for a child that does not read.
const maxInput = 64 << 20

// Input is the standard input of a child that gets more input while it runs. Written data is buffered in
// memory until the child reads it, so Command.Line can answer what the child printed. An Input is for one
// Command.
type Input struct {
	mu      sync.Mutex
	changed *sync.Cond
	waiting []byte
	closed  bool
}

// NewInput returns an empty input.
func NewInput() *Input {
	i := &Input{}
	i.changed = sync.NewCond(&i.mu)
	return i
}

// Write adds to what the child can read. It fails after the child has ended, or if 64 MiB are already
// buffered.
func (i *Input) Write(p []byte) (int, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.closed:
		return 0, os.ErrClosed
	case len(i.waiting)+len(p) > maxInput:
		return 0, fmt.Errorf("the program has not read the %d MiB that were written to it", maxInput>>20)
	}
	i.waiting = append(i.waiting, p...)
	i.changed.Signal()
	return len(p), nil
}

// take waits for written data; it is empty once the input is closed.
func (i *Input) take() []byte {
	i.mu.Lock()
	defer i.mu.Unlock()
	for len(i.waiting) == 0 && !i.closed {
		i.changed.Wait()
	}
	p := i.waiting
	i.waiting = nil
	return p
}

// feed writes to the child until the input is closed or the child stops reading.
func (i *Input) feed(file *os.File) {
	defer i.close()
	for p := i.take(); len(p) > 0; p = i.take() {
		if _, err := file.Write(p); err != nil {
			return
		}
	}
}

func (i *Input) close() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.closed = true
	i.changed.Signal()
}

// supply gives cmd its standard input. The caller calls begun when the child was started, or could not be,
// and ended when the child has ended.
func (c Command) supply(cmd *exec.Cmd) (begun, ended func(), err error) {
	if c.Input == nil {
		cmd.Stdin = strings.NewReader(c.Stdin)
		return func() {}, func() {}, nil
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	cmd.Stdin = reader
	fed := make(chan struct{})
	begun = func() {
		_ = reader.Close() // the child has its own
		go func() {
			defer close(fed)
			c.Input.feed(writer)
		}()
	}
	ended = func() {
		c.Input.close()
		_ = writer.Close() // ends a write that nobody reads
		<-fed
	}
	return begun, ended, nil
}

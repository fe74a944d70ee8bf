package process

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// output passes what a child prints to the watch, piece by piece.
type output struct {
	pieces  chan piece
	readers [2]*os.File
	writers [2]*os.File
}

type piece struct {
	data   []byte
	stderr bool
}

// capture gives cmd our own pipes. Wait would close the pipes of os/exec while they still contain output.
func capture(cmd *exec.Cmd) (*output, error) {
	o := &output{pieces: make(chan piece)}
	for i := range o.readers {
		var err error
		if o.readers[i], o.writers[i], err = os.Pipe(); err != nil {
			closeAll(o.readers)
			closeAll(o.writers)
			return nil, err
		}
	}
	cmd.Stdout, cmd.Stderr = o.writers[0], o.writers[1]
	var reading sync.WaitGroup
	for i, reader := range o.readers {
		reading.Go(func() { o.read(reader, i == 1) })
	}
	go func() {
		reading.Wait()
		close(o.pieces)
	}()
	return o, nil
}

func (o *output) read(file *os.File, stderr bool) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := file.Read(buffer)
		if n > 0 {
			o.pieces <- piece{data: bytes.Clone(buffer[:n]), stderr: stderr}
		}
		if err != nil {
			return
		}
	}
}

// expire ends the reading after a while, even if some process keeps a pipe open.
func (o *output) expire(after time.Duration) {
	for _, reader := range o.readers {
		// Pipes on Windows have no deadlines. There, ending the job has closed all other ends by now.
		_ = reader.SetReadDeadline(time.Now().Add(after))
	}
}

// closeAll ignores errors: pipes have nothing to flush, and nil is a pipe that was not made.
func closeAll(files [2]*os.File) {
	for _, file := range files {
		_ = file.Close()
	}
}

// lines splits a stream into lines with bounded memory.
type lines struct {
	partial []byte
	skip    bool
}

func (l *lines) add(data []byte, emit func([]byte) error) error {
	for {
		head, rest, complete := bytes.Cut(data, []byte{'\n'})
		if len(l.partial)+len(head) > MaxLine {
			l.partial, l.skip = nil, true
		}
		if !complete {
			if !l.skip {
				l.partial = append(l.partial, head...)
			}
			return nil
		}
		if err := l.end(head, emit); err != nil {
			return err
		}
		data = rest
	}
}

// end emits a line that ends after data, even without a newline.
func (l *lines) end(data []byte, emit func([]byte) error) error {
	line, skip := data, l.skip
	if len(l.partial) > 0 {
		line = append(l.partial, data...)
	}
	l.partial, l.skip = nil, false
	if line = bytes.TrimSuffix(line, []byte{'\r'}); skip || len(line) == 0 {
		return nil
	}
	return emit(line)
}

// tail keeps the end of a stream.
type tail struct{ data []byte }

func (t *tail) add(data []byte) {
	t.data = append(t.data, data...)
	if extra := len(t.data) - MaxStderr; extra > 0 {
		t.data = bytes.Clone(t.data[extra:])
	}
}

func (t *tail) String() string { return strings.ToValidUTF8(string(t.data), "\uFFFD") }

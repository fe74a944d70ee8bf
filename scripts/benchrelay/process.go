package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"touchstone/scripts/benchmark"
	"touchstone/scripts/program"
	"touchstone/worktree/steps"
)

// process is a running relay, or a running yardstick.
type process struct {
	*program.Process
	address string
}

// relay starts the relay over a store in the run's directory.
func (b *bench) relay(ctx context.Context, store string) *process {
	addressFile := filepath.Join(b.dir, "address")
	command := exec.CommandContext(ctx, b.binary, "serve", "--listen", "127.0.0.1:0",
		"--store", "sqlite:"+filepath.Join(b.dir, store), "--retention", "0", "--address-file", addressFile)
	command.Env = append(os.Environ(), "RELAY_GITHUB_SECRET="+benchmark.Secret)
	return launch(ctx, command, addressFile)
}

// yardstick starts this program as a yardstick.
func (b *bench) yardstick(ctx context.Context, kind string) *process {
	addressFile := filepath.Join(b.dir, "address")
	command := exec.CommandContext(ctx, os.Args[0], "yardstick", kind)
	command.Env = append(os.Environ(), "ADDRESS_FILE="+addressFile)
	return launch(ctx, command, addressFile)
}

func launch(ctx context.Context, command *exec.Cmd, addressFile string) *process {
	started := steps.Got(program.Start(ctx, command, addressFile))
	return &process{started, started.Addresses[0]}
}

func (p *process) stop() { p.Stop(os.Kill) } // its store is not needed any more

// open counts the relay's open files and goroutines, including the connection for this request.
func (p *process) open() (files, goroutines int) {
	response := steps.Got(p.Client.Get("http://" + p.address + "/metrics"))
	defer response.Body.Close()
	text := steps.Got(io.ReadAll(response.Body))
	_, rest, _ := strings.Cut(string(text), "\ngo_goroutines ")
	count, _, _ := strings.Cut(rest, "\n")
	return len(steps.Got(os.ReadDir("/proc/" + p.PID() + "/fd"))), steps.Got(strconv.Atoi(count))
}

// post delivers one signed webhook and requires that it is stored.
func (p *process) post(ctx context.Context, body []byte) error {
	return benchmark.Post(ctx, p.Client, "http://"+p.address, "push", body)
}

// postAll sends n webhooks from several senders and returns how long it took.
func (p *process) postAll(ctx context.Context, n, senders int, body []byte) time.Duration {
	return benchmark.Share(ctx, n, senders, func(ctx context.Context) error { return p.post(ctx, benchmark.Fresh(body)) })
}

// subscribe opens a stream over a plain connection and returns once the stream has begun.
func (p *process) subscribe(query, encoding string) net.Conn {
	conn := steps.Got(net.Dial("tcp", p.address))
	fmt.Fprintf(conn, "GET /events?%s HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: %s\r\n\r\n", query, encoding)
	var head []byte
	for one := make([]byte, 1); !bytes.HasSuffix(head, []byte("\r\n\r\n")); head = append(head, one[0]) {
		steps.Got(conn.Read(one))
	}
	if !bytes.HasPrefix(head, []byte("HTTP/1.1 200")) {
		steps.Fail("the stream was answered %.60q", head)
	}
	return conn
}

// readSize is a reader's buffer, in bytes.
const readSize = 256 << 10

// readMarks reads until it has seen n marks, which may be split across two reads.
func readMarks(conn net.Conn, buffer, mark []byte, n int) error {
	kept := 0
	for n > 0 {
		got, err := conn.Read(buffer[kept:])
		if err != nil {
			return err
		}
		have := buffer[:kept+got]
		n -= bytes.Count(have, mark)
		rest := have[max(0, len(have)-len(mark)+1):]
		if end := bytes.LastIndex(have, mark); end >= 0 && len(have)-end-len(mark) < len(rest) {
			rest = have[end+len(mark):]
		}
		kept = copy(buffer, rest)
	}
	return nil
}

// Package program builds programs of this module, and runs a server in its own process, for benchmarks and attacks: it
// waits until the server reports where it listens, and returns the server's processor time, on Linux only, from /proc.
package program

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// startTime bounds how long a server may take to start listening: it may have to open a large log.
const startTime = time.Minute

// Process is a running server.
type Process struct {
	// Addresses are the words that the server wrote into its file: the addresses on which it listens.
	Addresses []string
	// Client keeps many connections to the server open, and does not decompress responses.
	Client *http.Client
	// Ended is closed when the server has ended.
	Ended <-chan struct{}

	command *exec.Cmd
}

// Start starts a server that writes a line into addressFile once it listens, and waits for that line. Its
// error says that the server did not start.
func Start(ctx context.Context, command *exec.Cmd, addressFile string) (*Process, error) {
	if err := os.RemoveAll(addressFile); err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	p := &Process{
		command: command, Ended: ended, Client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}},
	}
	go func() {
		defer close(ended)
		_ = command.Wait() // no caller needs to know how it ended
	}()
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for {
		if text, err := os.ReadFile(addressFile); err == nil && bytes.HasSuffix(text, []byte("\n")) {
			p.Addresses = strings.Fields(string(text))
			return p, nil
		}
		select {
		case <-ended:
			return nil, fmt.Errorf("%s ended at once", command.Path)
		case <-ctx.Done():
			p.Stop(os.Kill)
			return nil, fmt.Errorf("%s did not start: %w", command.Path, ctx.Err())
		case <-time.After(time.Millisecond):
		}
	}
}

// Signal sends the server a signal; the server may have ended.
func (p *Process) Signal(signal os.Signal) { _ = p.command.Process.Signal(signal) }

// Stop ends the server with a signal, and returns when it is gone.
func (p *Process) Stop(signal os.Signal) {
	p.Client.CloseIdleConnections()
	p.Signal(signal)
	<-p.Ended
}

// PID returns the process's number.
func (p *Process) PID() string { return strconv.Itoa(p.command.Process.Pid) }

// Memory returns the resident memory and its peak, in bytes.
func (p *Process) Memory() (now, peak int64) { return Memory(p.PID()) }

// Memory returns the resident memory of a process and its peak, in bytes; "self" means this process. It returns
// zeros for a process that is gone.
func Memory(pid string) (now, peak int64) {
	status, _ := os.ReadFile("/proc/" + pid + "/status")
	for line := range strings.Lines(string(status)) {
		fields := strings.Fields(line)
		switch {
		case len(fields) > 1 && fields[0] == "VmRSS:":
			now, _ = strconv.ParseInt(fields[1], 10, 64)
		case len(fields) > 1 && fields[0] == "VmHWM:":
			peak, _ = strconv.ParseInt(fields[1], 10, 64)
		}
	}
	return now << 10, peak << 10
}

// CPU returns the processor time used so far.
func (p *Process) CPU() time.Duration { return CPU(p.PID()) }

// CPU returns the processor time that a process has used so far; "self" means this process. It reads fields
// 14 and 15 of /proc/PID/stat, which count hundredths of a second
// (https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html). It returns zero for a process that is gone.
func CPU(pid string) time.Duration {
	stat, _ := os.ReadFile("/proc/" + pid + "/stat")
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// Median sorts the values and returns the middle one. Their number must be odd, or the middle values close to
// each other.
func Median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

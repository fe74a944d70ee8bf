// Package measured runs a server as a process of its own, for benchmarks: it waits until the server says
// where it listens, and tells what processor time it uses. Linux only, for it reads /proc.
package measured

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// startTime bounds how long a server may take to begin to listen: it may have a large log to open.
const startTime = time.Minute

// Process is a server at work.
type Process struct {
	// Addresses are what the server wrote into its file, word by word: where it listens.
	Addresses []string
	// Client keeps connections to it open, many at one time, and takes what it is sent as it is.
	Client *http.Client

	command *exec.Cmd
}

// Start starts a server that writes a line into addressFile once it listens, and waits for that. The error
// says that it did not start.
func Start(command *exec.Cmd, addressFile string) (*Process, error) {
	if err := os.RemoveAll(addressFile); err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	p := &Process{command: command, Client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}}}
	for deadline := time.Now().Add(startTime); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if text, err := os.ReadFile(addressFile); err == nil && bytes.HasSuffix(text, []byte("\n")) {
			p.Addresses = strings.Fields(string(text))
			return p, nil
		}
	}
	p.Stop(os.Kill)
	return nil, fmt.Errorf("%s did not start", command.Path)
}

// Stop ends the server by a signal, and returns when it is gone.
func (p *Process) Stop(signal os.Signal) {
	p.Client.CloseIdleConnections()
	_ = p.command.Process.Signal(signal)
	_ = p.command.Wait()
}

// PID is the process's number.
func (p *Process) PID() string { return strconv.Itoa(p.command.Process.Pid) }

// CPU is the processor time that it has used so far.
func (p *Process) CPU() time.Duration { return CPU(p.PID()) }

// CPU is the processor time that a process has used so far, "self" being this one, from fields 14 and 15
// of /proc/PID/stat, which count hundredths of a second
// (https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html). It is zero for one that is gone.
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

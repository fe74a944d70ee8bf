// Package terminaltest owns pseudo-terminals, on which tests run what people see and answer.
package terminaltest

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// Terminal is a pseudo-terminal, and what was written to it. The file is the programs' end.
type Terminal struct {
	*os.File
	person *os.File // the other end
	mu     sync.Mutex
	all    strings.Builder
}

// New is a terminal of a size. The test is skipped where there is none.
func New(t testing.TB, columns, lines uint16) *Terminal {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("SKIPPED: no pseudo-terminal: %v", err)
	}
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(person.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: lines, Col: columns})
	}
	if err != nil {
		t.Fatal(err)
	}
	programs, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	term, done := &Terminal{File: programs, person: person}, make(chan struct{})
	go func() {
		defer close(done)
		for buffer := make([]byte, 4096); ; {
			n, err := person.Read(buffer)
			if err != nil {
				return
			}
			term.mu.Lock()
			term.all.Write(buffer[:n])
			term.mu.Unlock()
		}
	}()
	t.Cleanup(func() { _ = programs.Close(); <-done; _ = person.Close() })
	return term
}

// Whole is all that was written to it so far.
func (t *Terminal) Whole() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.all.String()
}

// Type enters a line.
func (t *Terminal) Type(line string) error {
	_, err := t.person.WriteString(line + "\n")
	return err
}

// Hides reports whether what is typed now is not shown.
func (t *Terminal) Hides() (bool, error) {
	state, err := unix.IoctlGetTermios(int(t.person.Fd()), unix.TCGETS)
	return err == nil && state.Lflag&unix.ECHO == 0, err
}

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"touchstone/agent/terminal"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// errNobody says that there is no terminal to ask on.
var errNobody = errors.New("this is no terminal, so nothing is asked")

// dialog asks people, where there are any: on a terminal.
type dialog struct {
	out   io.Writer
	in    *os.File // nil without a terminal
	lines *bufio.Reader
}

func newDialog(cmd *cobra.Command) *dialog {
	d := &dialog{out: cmd.OutOrStdout()}
	if terminal.Is(os.Stdin) && terminal.Is(os.Stderr) {
		d.in, d.lines = os.Stdin, bufio.NewReader(os.Stdin)
	}
	return d
}

// say prints a line.
func (d *dialog) say(format string, args ...any) { fmt.Fprintf(d.out, format+"\n", args...) }

// ask returns the line that is typed in answer.
func (d *dialog) ask(question string) (string, error) {
	if d.in == nil {
		return "", errNobody
	}
	fmt.Fprint(os.Stderr, question)
	line, err := d.lines.ReadString('\n')
	return strings.TrimSpace(line), err
}

// yes reports whether a question is answered with yes, which an empty answer is. Without a
// terminal it is no.
func (d *dialog) yes(question string) bool {
	answer, err := d.ask(question)
	return err == nil && (answer == "" || strings.HasPrefix(strings.ToLower(answer), "y"))
}

// secret returns what is typed, which the terminal does not show.
func (d *dialog) secret(question string) (string, error) {
	if d.in == nil {
		return "", errNobody
	}
	fmt.Fprint(os.Stderr, question)
	typed, err := term.ReadPassword(int(d.in.Fd()))
	fmt.Fprintln(os.Stderr)
	if err == nil && len(strings.TrimSpace(string(typed))) == 0 {
		err = errors.New("nothing was pasted")
	}
	return strings.TrimSpace(string(typed)), err
}

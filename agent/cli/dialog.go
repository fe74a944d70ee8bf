package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"touchstone/agent/terminal"
)

// errNoTerminal says that there is no terminal to ask on.
var errNoTerminal = errors.New("this is not a terminal, so no question can be asked")

// Dialog asks people questions, if there is a terminal.
type Dialog struct {
	// Out is where Say prints.
	Out   io.Writer
	in    *os.File // nil without a terminal
	lines *bufio.Reader
	// stopped is closed when the command is to stop, as by Ctrl-C.
	stopped <-chan struct{}
}

// NewDialog returns a dialog on the terminal where a command was started.
func NewDialog(cmd *cobra.Command) *Dialog {
	d := &Dialog{Out: cmd.OutOrStdout(), stopped: cmd.Context().Done()}
	if terminal.Is(os.Stdin) && terminal.Is(os.Stderr) {
		d.in, d.lines = os.Stdin, bufio.NewReader(os.Stdin)
	}
	return d
}

// Say prints a line.
func (d *Dialog) Say(format string, args ...any) { fmt.Fprintf(d.Out, format+"\n", args...) }

// Ask returns the line that a person types in answer. Like Secret, it returns context.Canceled if the command is
// stopped before.
func (d *Dialog) Ask(question string) (string, error) {
	if d.in == nil {
		return "", errNoTerminal
	}
	return d.answer(question, func() (string, error) { return d.lines.ReadString('\n') })
}

// answer asks a question and reads the answer. Reading from a terminal cannot be interrupted, so a command that is
// stopped does not wait for it: it ends soon, and asks no further question.
func (d *Dialog) answer(question string, read func() (string, error)) (string, error) {
	type answer struct {
		text string
		err  error
	}
	given := make(chan answer, 1)
	select {
	case <-d.stopped:
		return "", context.Canceled
	default:
		fmt.Fprint(os.Stderr, question)
		go func() {
			text, err := read()
			given <- answer{strings.TrimSpace(text), err}
		}()
	}
	select {
	case a := <-given:
		return a.text, a.err
	case <-d.stopped:
		fmt.Fprintln(os.Stderr)
		return "", context.Canceled
	}
}

// Yes reports whether a question is answered with yes; an empty answer means yes. Without a terminal the
// answer is no.
func (d *Dialog) Yes(question string) bool {
	answer, err := d.Ask(question)
	return err == nil && (answer == "" || strings.HasPrefix(strings.ToLower(answer), "y"))
}

// Secret returns a typed answer, which the terminal does not show.
func (d *Dialog) Secret(question string) (string, error) {
	if d.in == nil {
		return "", errNoTerminal
	}
	terminal := int(d.in.Fd())
	shows, err := term.GetState(terminal)
	if err != nil {
		return "", err
	}
	typed, err := d.answer(question, func() (string, error) {
		typed, err := term.ReadPassword(terminal)
		fmt.Fprintln(os.Stderr)
		return string(typed), err
	})
	if errors.Is(err, context.Canceled) {
		return "", errors.Join(err, term.Restore(terminal, shows))
	}
	if err == nil && typed == "" {
		err = errors.New("nothing was pasted")
	}
	return typed, err
}

package cli

import (
	"bufio"
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
}

// NewDialog returns a dialog on the terminal where a command was started.
func NewDialog(cmd *cobra.Command) *Dialog {
	d := &Dialog{Out: cmd.OutOrStdout()}
	if terminal.Is(os.Stdin) && terminal.Is(os.Stderr) {
		d.in, d.lines = os.Stdin, bufio.NewReader(os.Stdin)
	}
	return d
}

// Say prints a line.
func (d *Dialog) Say(format string, args ...any) { fmt.Fprintf(d.Out, format+"\n", args...) }

// Ask returns the line that a person types in answer.
func (d *Dialog) Ask(question string) (string, error) {
	if d.in == nil {
		return "", errNoTerminal
	}
	fmt.Fprint(os.Stderr, question)
	line, err := d.lines.ReadString('\n')
	return strings.TrimSpace(line), err
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
	fmt.Fprint(os.Stderr, question)
	typed, err := term.ReadPassword(int(d.in.Fd()))
	fmt.Fprintln(os.Stderr)
	if err == nil && len(strings.TrimSpace(string(typed))) == 0 {
		err = errors.New("nothing was pasted")
	}
	return strings.TrimSpace(string(typed)), err
}

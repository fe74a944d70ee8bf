package session

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"touchstone/agent/engine/sandbox"
)

// shellDir is where in the home that shell is.
const shellDir = "shell"

// ShellFirst is the PATH of a session with the directory of its shell before all others, for a CLI
// that looks for one by its name.
func (b *Base) ShellFirst() string {
	return "PATH=" + b.Home.Path(shellDir) + string(filepath.ListSeparator) + value(b.Environment(), "PATH")
}

// shell gives the variables by which a confined CLI starts its commands with a shell of ours:
// confined once more, so that they can neither read the login in the CLI's memory nor
// write what the CLI reads, such as its settings, which may name commands to run. There
// are none where the CLI or the platform has no such thing.
func (b *Base) shell(env []string) ([]string, error) {
	if b.Kind.Shell == "" {
		return nil, nil
	}
	path, err := exec.LookPath("bash")
	if err != nil {
		path, err = exec.LookPath("zsh")
	}
	if err != nil {
		return nil, errors.New("an author's commands need a shell, and neither bash nor zsh is on PATH; install one of them")
	}
	own := b.Home.Path("commands")
	rules := sandbox.Author([]string{b.Request.Dir}, own, env, "", []string{b.Home.Dir})
	rules.Write = append(rules.Write, b.Home.temp())
	for _, name := range b.Kind.Shared {
		rules.Write = append(rules.Write, b.Home.Path(filepath.FromSlash(name)))
	}
	// A CLI may have been given another PATH, to find the shell by it.
	set := slices.DeleteFunc(b.Environment(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return !proxying(name) && name != "PATH"
	})
	script, err := rules.Shell(path, b.Kind.Withheld, append(set, "HOME="+own))
	if err != nil || script == "" {
		return nil, err
	}
	// The CLI knows by the name what language the shell speaks.
	name := shellDir + "/" + filepath.Base(path)
	if err := b.Home.Write(name, []byte(script)); err != nil {
		return nil, err
	}
	path = b.Home.Path(filepath.FromSlash(name))
	return []string{b.Kind.Shell + "=" + path}, os.Chmod(path, 0o700)
}

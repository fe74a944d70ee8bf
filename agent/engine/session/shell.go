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

// shellDir is the directory of the shell in the home.
const shellDir = "shell"

// ShellFirst is the session's PATH with the directory of its shell first, for a CLI that searches the shell
// by its name.
func (g *Gated) ShellFirst() string {
	return "PATH=" + g.Home.Path(shellDir) + string(filepath.ListSeparator) + value(g.Environment(), "PATH")
}

// shell returns the variables that make a confined CLI start its commands with our shell. The shell confines
// them once more, so that they can neither read the login in the CLI's memory nor write what the CLI reads,
// such as settings that may name commands to run. There are none if the CLI or the platform does not support
// it.
func (g *Gated) shell(env []string) ([]string, error) {
	if g.Kind.Shell == "" {
		return nil, nil
	}
	path, err := exec.LookPath("bash")
	if err != nil {
		path, err = exec.LookPath("zsh")
	}
	if err != nil {
		return nil, errors.New("an author's commands need a shell, and neither bash nor zsh is on PATH; install one of them")
	}
	own := g.Home.Path("commands")
	rules := sandbox.Author([]string{g.Request.Dir}, own, env, "", []string{g.Home.Dir})
	rules.Write = append(rules.Write, g.Home.temp())
	for _, name := range g.Kind.Shared {
		rules.Write = append(rules.Write, g.Home.Path(filepath.FromSlash(name)))
	}
	// The CLI may have been given another PATH to find our shell.
	set := slices.DeleteFunc(g.Environment(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return !proxying(name) && name != "PATH"
	})
	script, err := rules.Shell(path, g.Kind.Withheld, append(set, "HOME="+own))
	if err != nil || script == "" {
		return nil, err
	}
	// The CLI infers the shell's language from its name.
	name := shellDir + "/" + filepath.Base(path)
	if err := g.Home.Write(name, []byte(script)); err != nil {
		return nil, err
	}
	path = g.Home.Path(filepath.FromSlash(name))
	return []string{g.Kind.Shell + "=" + path}, os.Chmod(path, 0o700)
}

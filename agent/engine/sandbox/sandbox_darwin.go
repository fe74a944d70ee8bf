package sandbox

import (
	"errors"
	"os"
)

// program applies a profile and becomes the given program. It is marked as deprecated, but there is nothing
// else for a program without a bundle.
const program = "/usr/bin/sandbox-exec"

func level() (string, error) {
	if _, err := os.Stat(program); err != nil {
		return "", errors.New("this macOS has no sandbox-exec")
	}
	return "sandbox-exec", nil
}

func wrap(r Rules, path string, args []string) (string, []string) {
	return program, append([]string{program, "-p", profile(r), path}, args[1:]...)
}

// shell is empty: a profile inside another one is refused.
func shell(Rules, string, []string, []string) (string, error) { return "", nil }

func gaps() []string { return nil }

// enterIfConfined does nothing: on macOS no program confines itself.
func enterIfConfined() {}

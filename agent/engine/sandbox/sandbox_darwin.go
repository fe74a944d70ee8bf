package sandbox

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// program takes a profile and becomes the program that it is given. It is called
// deprecated, and there is nothing else that a program of no bundle could use.
const program = "/usr/bin/sandbox-exec"

func level() (string, error) {
	if _, err := os.Stat(program); err != nil {
		return "", errors.New("this macOS has no sandbox-exec")
	}
	return "sandbox-exec", nil
}

func wrap(r Rules, path string, args []string) (string, []string, error) {
	profile := &strings.Builder{}
	profile.WriteString("(version 1)\n(allow default)\n(deny file-write*)\n")
	rule := func(rule string, places []string) {
		for _, place := range places {
			fmt.Fprintf(profile, "(%s (subpath %s))\n", rule, quote(place))
		}
	}
	rule("allow file-write*", append(r.Write, "/dev"))
	rule("deny file-read-data", r.Hide)
	// Of two rules the later one counts.
	rule("allow file-read-data", append(r.Show, r.Write...))
	return program, append([]string{program, "-p", profile.String(), path}, args[1:]...), nil
}

// quote makes a string of the profile's language, which is a Scheme.
func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// shell: a profile inside of another is refused.
func shell(Rules, string, []string, []string) (string, error) { return "", nil }

func gaps() []string { return nil }

// Command scriptedmodel replaces the claude CLI and plays a script instead of thinking. It takes claude's
// flags, reads the prompt from standard input and prints claude's stream-json events, so that the code that
// drives and reads a real model runs unchanged in the demo and in the loop tests:
//
//	scriptedmodel --script FILE -p --output-format stream-json --verbose …
//
// The script (see Script) lists defects. As a reviewer the command finds those that are really in the files
// of its working directory; as an author it really edits them out. When it is asked to refute a defect, it
// upholds it or does what the script says. It finds nothing to name in an approval's text. It simulates
// nothing else: it never looks at a pull request, a verdict or a forge.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"touchstone/agent/e2e/reading"
)

// version is printed in claude's format; the number is the release whose output this program imitates.
const version = "2.1.329 (scripted model)"

// maxPrompt is claude's own limit on standard input.
const maxPrompt = 10 << 20

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "scriptedmodel: "+err.Error())
		os.Exit(1)
	}
}

func run(args []string, stdin io.Reader, stdout io.Writer) error {
	opts, err := parseArgs(args)
	if err != nil {
		return err
	}
	if opts.version {
		fmt.Fprintln(stdout, version)
		return nil
	}
	if !opts.print || opts.format != "stream-json" {
		return errors.New("only -p --output-format stream-json is spoken here")
	}
	prompt, err := io.ReadAll(io.LimitReader(stdin, maxPrompt+1))
	if err != nil {
		return fmt.Errorf("read the prompt: %w", err)
	}
	if len(prompt) > maxPrompt {
		return errors.New("the prompt is longer than 10 MB")
	}
	script, err := loadScript(opts.script)
	if err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the working directory: %w", err)
	}

	role := "reviewer"
	switch {
	case slices.Contains(opts.tools, "Edit"):
		role = "author"
	case strings.Contains(string(prompt), "\n# The finding\n"):
		role = "checker"
	case reading.Asked(string(prompt)):
		role = "reader"
	case strings.HasPrefix(string(prompt), "# The row to reword\n"):
		role = "drafter"
	}
	fault, err := script.nextFault(role)
	if err != nil {
		return err
	}
	id, all, err := recall(opts.resume, string(prompt))
	if err != nil {
		return err
	}
	s := &session{
		out: stdout, script: script, fault: fault, dir: dir, prompt: all,
		model: opts.model, id: id, pause: time.Duration(script.DelayMS) * time.Millisecond,
	}
	if err := s.begin(opts.tools); err != nil {
		return err
	}
	return map[string]func() error{
		"reviewer": s.review, "author": s.author, "checker": s.check, "reader": s.readBack, "drafter": s.draft,
	}[role]()
}

// options are the relevant flags.
type options struct {
	script, format, model, resume string
	tools                         []string
	print, version                bool
}

// arity is the number of values of each accepted flag; -1 means all up to the next flag.
var arity = map[string]int{
	"--script": 1, "-p": 0, "--print": 0, "-v": 0, "--version": 0, "--verbose": 0,
	"--output-format": 1, "--include-partial-messages": 0, "--setting-sources": 1,
	"--append-system-prompt-file": 1, "--exclude-dynamic-system-prompt-sections": 0,
	"--strict-mcp-config": 0, "--disable-slash-commands": 0, "--permission-mode": 1,
	"--model": 1, "--effort": 1, "--resume": 1, "--max-budget-usd": 1, "--tools": -1, "--allowedTools": -1, "--disallowedTools": -1,
	"--add-dir": -1,
}

// parseArgs refuses flags that claude does not know, as claude does, so that a misspelt flag fails here too.
func parseArgs(args []string) (options, error) {
	var opts options
	for len(args) > 0 {
		name := args[0]
		args = args[1:]
		count, known := arity[name]
		if !known {
			return opts, fmt.Errorf("error: unknown option '%s'", name)
		}
		if count < 0 {
			count = slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "-") })
			if count < 0 {
				count = len(args)
			}
		}
		if count > len(args) {
			return opts, fmt.Errorf("error: option '%s' argument missing", name)
		}
		values := args[:count]
		args = args[count:]
		switch name {
		case "--script":
			opts.script = values[0]
		case "--output-format":
			opts.format = values[0]
		case "--model":
			opts.model = values[0]
		case "--resume":
			opts.resume = values[0]
		case "--tools":
			opts.tools = strings.Split(strings.Join(values, ","), ",")
		case "-p", "--print":
			opts.print = true
		case "-v", "--version":
			opts.version = true
		}
	}
	return opts, nil
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// seed is a weakness that a program is built with, to see that an attack finds it.
type seed struct {
	attack string
	// file holds old, in place of which the weak program has weak.
	file, old, weak string
}

var seeds = []seed{
	{
		"cached code decides another pull request's verify", "agent/engine/session/caches.go",
		`"cache", filepath.Base(dir), string(use))`, `"cache", "shared", string(use))`,
	},
	{
		"cached code decides another pull request's verify", "agent/author/repair.go",
		`caches := session.Caches(r.tree.Dir(), session.ForVerify)`, `caches := session.Caches(r.tree.Dir(), session.ForSession)`,
	},
	{"a command left in a nested .git runs later", "worktree/nested.go", `places[dir+"/.git"] = true`, `_ = dir`},
	{"root in the sandbox opens a packet socket", "agent/engine/sandbox/capability_linux.go", `unix.CAP_CHOWN, `,
		`unix.CAP_CHOWN, unix.CAP_NET_RAW, `},
	{"root in the sandbox sets the clock", "agent/engine/sandbox/capability_linux.go", `unix.CAP_CHOWN, `,
		`unix.CAP_CHOWN, unix.CAP_SYS_TIME, `},
	{"a second relay shares the log through a link", "relay/internal/sqlite/lock.go", `		err = claim(l.file)`, `		err = nil`},
	{
		"a flipped bit changes an event and verify is content", "relay/internal/sqlite/read.go",
		`checksum.Valid && r.sum.event(e, headers, content) != checksum.Int64`, `false`,
	},
	{
		"damage under a running relay is passed over in silence", "relay/internal/sqlite/read.go",
		`checksum.Valid && r.sum.event(e, headers, content) != checksum.Int64`, `false`,
	},
	{"a follower is sent what signs a webhook", "relay/source/github.go", `name == "User-Agent" ||`,
		`name == "User-Agent" || name == "X-Hub-Signature-256" ||`},
	{"tail lets a payload steer the terminal", "relay/tail.go", `		if !unicode.IsPrint(r) {`, `		if r == 0 {`},
	{
		"a session or a verify command gets out of a closed network", "agent/engine/session/session.go",
		`			rules.Connect = b.connect`, `			_ = b.connect`,
	},
	{
		"a session or a verify command gets out of a closed network", "agent/author/command.go",
		`rules.Alone = a.Alone; a.Alone`, `rules.Alone = false; a.Alone`,
	},
	{"a session or a verify command gets out of a closed network", "agent/engine/sandbox/sandbox_linux.go", `	return tcpOnly()`,
		`	return nil`},
	{"a verify command starts processes without end", "agent/engine/process/bounds.go", `	return b, nil`,
		`	return Bounds{b.Memory, 1 << 20}, nil`},
	{"a session writes to its starter's files", "agent/engine/process/descriptors_linux.go", `// Since Linux 5.11.`, `return`},
}

// trySeeds makes each attack on an agent with the weakness that it is about, and returns how many
// weaknesses it did not find.
func trySeeds(ctx context.Context, attacks []attack) (missed int) {
	tried := 0
	for _, a := range attacks {
		for _, s := range seeds {
			if s.attack != a.name {
				continue
			}
			tried++
			switch achieved, err := s.try(ctx, a); {
			case err != nil:
				missed++
				fmt.Printf("%-50s weak in %s, could not be tried: %v\n", a.name, s.file, err)
			case achieved == "":
				missed++
				fmt.Printf("%-50s weak in %s, NOT SEEN\n", a.name, s.file)
			default:
				fmt.Printf("%-50s weak in %s, seen: %s\n", a.name, s.file, achieved)
			}
		}
	}
	fmt.Printf("break: %d weaknesses seeded, %d seen\n", tried, tried-missed)
	return missed
}

// try builds the weak program and makes the attack on it.
func (s seed) try(ctx context.Context, a attack) (achieved string, err error) {
	text, err := os.ReadFile(filepath.FromSlash(s.file))
	if err != nil {
		return "", err
	}
	if !strings.Contains(string(text), s.old) {
		return "", fmt.Errorf("%s does not hold %q any more", s.file, s.old)
	}
	folder, err := os.MkdirTemp("", "break")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	weak, overlay := filepath.Join(folder, "weak.go"), filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(weak, []byte(strings.Replace(string(text), s.old, s.weak, 1)), 0o600); err != nil {
		return "", err
	}
	file, err := filepath.Abs(filepath.FromSlash(s.file))
	if err != nil {
		return "", err
	}
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{file: weak}})
	if err == nil {
		err = os.WriteFile(overlay, list, 0o600)
	}
	if err != nil {
		return "", err
	}
	program, source := "touchstone", "./agent"
	if strings.HasPrefix(s.file, "relay/") {
		program, source = "touchstone-relay", "./relay"
	}
	// See go help build, -overlay.
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-overlay", overlay, "-o", filepath.Join(folder, program), source)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the weak %s: %w: %s", program, err, said)
	}
	limited, cancel := context.WithTimeout(ctx, attackTimeout)
	defer cancel()
	return a.try(limited, folder)
}

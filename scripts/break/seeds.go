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

	"touchstone/worktree/steps"
)

// seed is a weakness that is built into a program, to check that an attack finds it.
type seed struct {
	attack string
	// file contains old, which the weak program replaces with weak.
	file, old, weak string
}

// Weaknesses that let several attacks succeed.
var (
	noGuests = seed{file: "relay/server/guests.go", old: "newShares(min(maxGuests, descriptors()/4), 0)", weak: "newShares(1<<40, 0)"}
	noLoser  = seed{file: "relay/server/shares.go", old: "[]*claim{most, c.holder.oldestBut(c)}", weak: "[]*claim{}"}
	noProbe  = seed{file: "relay/hub/ready.go", old: "size := h.failing.Load()", weak: "size := int64(0)"}
	noCheck  = seed{
		file: "relay/internal/sqlite/append.go", old: `s.files.check(); err != nil {`, weak: `s.files.check(); err != nil && false {`,
	}
)

// against returns the weakness for one attack.
func (s seed) against(attack string) seed {
	s.attack = attack
	return s
}

var seeds = []seed{
	noGuests.against("silent connections keep webhooks out"),
	noLoser.against("silent connections keep webhooks out"),
	noLoser.against("unfinished heads keep webhooks out"),
	noLoser.against("announced bodies keep webhooks out"),
	noLoser.against("unfinished bodies keep webhooks out"),
	noLoser.against("streams that announce bodies keep webhooks out"),
	noLoser.against("streams with unfinished bodies keep webhooks out"),
	noLoser.against("streams that let no answer through keep webhooks out"),
	noCheck.against("a deleted log takes webhooks"),
	noCheck.against("a replaced log takes webhooks"),
	noCheck.against("a deleted write-ahead log takes webhooks"),
	noCheck.against("a moved folder takes webhooks"),
	{"a replaced log takes webhooks", "relay/internal/sqlite/files.go", "!os.SameFile(info, file.opened)", "info == nil"},
	noProbe.against("a full disk loses what was acknowledged"),
	noProbe.against("a disk that turns read-only loses webhooks"),
	noCheck.against("a disk that goes away loses webhooks"),
	{"a signed webhook is stored under a new id", "relay/source/github.go", `header.Get("X-Hub-Signature-256")), true`,
		`header.Get("X-Hub-Signature-256")), false`},
	{"a link that was used signs in again", "relay/server/session.go", ` || base64.RawURLEncoding.EncodeToString(data) != text`, ``},
	{"a local program changes the agents' settings", "relay/server/server.go", "s.admins(s.patchSettings)", "s.readers(s.patchSettings)"},
	{
		"cached code decides another pull request's verify", "agent/engine/session/caches.go",
		`.Cache(filepath.Base(dir)), string(use))`, `.Cache("shared"), string(use))`,
	},
	{
		"cached code decides another pull request's verify", "agent/author/repair.go",
		`r.verifyIn(ctx, r.tree.Dir(), session.Caches(r.tree.Dir(), session.ForVerify))`,
		`r.verifyIn(ctx, r.tree.Dir(), session.Caches(r.tree.Dir(), session.ForSession))`,
	},
	{"a command left in a nested .git runs later", "worktree/nested.go", `places[dir+"/.git"] = true`, `_ = dir`},
	{"root in the sandbox opens a packet socket", "agent/engine/sandbox/capability_linux.go", `unix.CAP_CHOWN, `,
		`unix.CAP_CHOWN, unix.CAP_NET_RAW, `},
	{"root in the sandbox sets the clock", "agent/engine/sandbox/capability_linux.go", `unix.CAP_CHOWN, `,
		`unix.CAP_CHOWN, unix.CAP_SYS_TIME, `},
	{"a second relay shares the log through a link", "relay/internal/sqlite/lock.go", `		err = claim(l.file)`, `		err = nil`},
	{
		"a flipped bit changes an event and verify is content", "relay/internal/sqlite/read.go",
		`r.checksum.Valid && sum.event(r.Event, r.headers, r.content) != r.checksum.Int64`, `false`,
	},
	{
		"damage under a running relay is passed over in silence", "relay/internal/sqlite/read.go",
		`r.checksum.Valid && sum.event(r.Event, r.headers, r.content) != r.checksum.Int64`, `false`,
	},
	{"a follower is sent what signs a webhook", "relay/source/github.go", `name == "User-Agent" ||`,
		`name == "User-Agent" || name == "X-Hub-Signature-256" ||`},
	{"tail lets a payload steer the terminal", "relay/ask.go", `		if !unicode.IsPrint(r) {`, `		if r == 0 {`},
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
	{"a workflow of aliases takes the guard's memory", "verdict/guard/doc/doc.go", "maxNodes = 50_000", "maxNodes = 1 << 40"},
	{"a link in the settings' place is passed over", "verdict/guard/tools/policy.go", "if !has(after, was) {",
		"if len(after) > 0 && !has(after, was) {"},
	{"a session writes to its starter's files", "agent/engine/process/descriptors_linux.go", `// Since Linux 5.11.`, `return`},
}

// trySeeds makes each attack on a program with the corresponding weakness, and returns how many weaknesses
// the attacks did not find.
func trySeeds(ctx context.Context, attacks []attack) (missed int) {
	tried := 0
	built := programs{}
	defer built.remove()
	for _, a := range attacks {
		for _, s := range seeds {
			if s.attack != a.name {
				continue
			}
			tried++
			achieved := ""
			err := steps.Try(func() { achieved = a.make(ctx, built.with(ctx, s)) })
			switch {
			case errors.Is(err, errSkipped):
				tried--
				fmt.Printf("%-50s weak in %s, SKIPPED: %v\n", a.name, s.file, err)
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

// programs are the directories of the weak programs built so far, by weakness.
type programs map[seed]string

func (p programs) remove() {
	for _, folder := range p {
		_ = os.RemoveAll(folder)
	}
}

// with returns the directory of the program with a weakness, which is built once.
func (p programs) with(ctx context.Context, s seed) string {
	s.attack = ""
	if folder, ok := p[s]; ok {
		return folder
	}
	folder := steps.Got(os.MkdirTemp("", "break"))
	p[s] = folder
	s.build(ctx, folder)
	return folder
}

// build builds the weak program into a directory.
func (s seed) build(ctx context.Context, folder string) {
	text := steps.Got(os.ReadFile(filepath.FromSlash(s.file)))
	if !strings.Contains(string(text), s.old) {
		steps.Fail("%s does not hold %q any more", s.file, s.old)
	}
	weak, overlay := filepath.Join(folder, "weak.go"), filepath.Join(folder, "overlay.json")
	steps.Must(os.WriteFile(weak, []byte(strings.Replace(string(text), s.old, s.weak, 1)), 0o600))
	file := steps.Got(filepath.Abs(filepath.FromSlash(s.file)))
	list := steps.Got(json.Marshal(map[string]any{"Replace": map[string]string{file: weak}}))
	steps.Must(os.WriteFile(overlay, list, 0o600))
	program, source := "touchstone", "./agent"
	if strings.HasPrefix(s.file, "relay/") {
		program, source = "touchstone-relay", "./relay"
	}
	// See go help build, -overlay.
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-overlay", overlay, "-o", filepath.Join(folder, program), source)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := build.CombinedOutput(); err != nil {
		steps.Fail("build the weak %s: %w: %s", program, err, said)
	}
}

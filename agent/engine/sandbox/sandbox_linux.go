package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// leastABI is the first version of Landlock that controls renames and truncations: Linux 6.2.
const leastABI = 3

// connectABI is the first version that controls TCP connections: Linux 6.7.
const connectABI = 4

// netPortRule is the type of a rule about a port, LANDLOCK_RULE_NET_PORT (landlock_add_rule(2)).
const netPortRule = 2

// pathSocketABI is the first version that controls connections to sockets with a path: Linux 7.1.
const pathSocketABI = 9

// abi is the kernel's version of Landlock.
var abi = sync.OnceValues(func() (int, error) {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch {
	case errno != 0:
		return 0, fmt.Errorf("this Linux has no Landlock, or does not allow it (%w)", errno)
	case version < leastABI:
		return 0, fmt.Errorf("this Linux has Landlock in version %d; version %d is needed, which Linux 6.2 has", version, leastABI)
	}
	return int(version), nil
})

func level() (string, error) {
	version, err := abi()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("landlock, version %d", version), nil
}

// sockets belong to services that act with the permissions of this user, or of root. Before pathSocketABI,
// Landlock does not control connections to them.
var sockets = []string{
	"/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock",
	"$XDG_RUNTIME_DIR/docker.sock", "$XDG_RUNTIME_DIR/podman/podman.sock", "$XDG_RUNTIME_DIR/bus", "$SSH_AUTH_SOCK",
	"$XDG_RUNTIME_DIR/gnupg/S.gpg-agent",
}

func gaps() []string {
	open := []string{"the modes, owners and times of this user's files"}
	if version, err := abi(); err == nil && version >= pathSocketABI {
		return open
	}
	for _, name := range sockets {
		path := os.ExpandEnv(name)
		if info, err := os.Stat(path); err == nil && info.Mode()&os.ModeSocket != 0 && unix.Access(path, unix.W_OK) == nil {
			open = append(open, "the service behind "+path)
		}
	}
	return open
}

// A process can only confine itself, and Go runs no code between fork and exec. So this program starts itself
// with this word as its first argument, takes on the rules, and becomes the intended program.
const inside = "touchstone-sandbox"

func wrap(r Rules, path string, args []string) (string, []string) {
	return "/proc/self/exe", append([]string{inside, inside, r.written(), path}, args...)
}

func (r Rules) written() string {
	rules, _ := json.Marshal(r) // strings, numbers and booleans can always be encoded
	return string(rules)
}

// shell confines with a second set of rules. A process under one set of rules cannot access the memory, nor
// by /proc the environment, of a process outside it
// (https://docs.kernel.org/userspace-api/landlock.html#ptrace-restrictions).
func shell(r Rules, path string, drop, set []string) (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program, which confines commands: %w", err)
	}
	script := &strings.Builder{}
	script.WriteString("#!/bin/sh\n")
	for _, name := range drop {
		fmt.Fprintln(script, "unset", quote(name))
	}
	for _, entry := range set {
		fmt.Fprintln(script, "export", quote(entry))
	}
	fmt.Fprintln(script, "exec", quote(program), inside, quote(r.written()), quote(path), quote(path), `"$@"`)
	return script.String(), nil
}

// quote quotes a text as one word for the shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func enterIfConfined() {
	if len(os.Args) < 5 || os.Args[1] != inside {
		return
	}
	err := enter(os.Args[2])
	if err == nil {
		err = syscall.Exec(os.Args[3], os.Args[4:], os.Environ())
	}
	fmt.Fprintf(os.Stderr, "%s cannot be started in its sandbox: %v\n", os.Args[3], err)
	os.Exit(126)
}

// The controlled access rights, and those of them that apply to files.
const (
	writing = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_REFER |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM
	reading = unix.LANDLOCK_ACCESS_FS_READ_FILE
	ofFiles = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | reading
)

// enter takes on rules, for this thread and what it becomes.
func enter(written string) error {
	var rules Rules
	if err := json.Unmarshal([]byte(written), &rules); err != nil {
		return err
	}
	version, err := abi()
	if err != nil {
		return err
	}
	held := unix.LandlockRulesetAttr{Handled_access_fs: writing | reading}
	if version >= pathSocketABI {
		held.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX
	}
	if version >= 6 {
		// Confined processes can neither signal processes outside, including this agent, nor connect to their
		// abstract sockets.
		held.Scoped = unix.LANDLOCK_SCOPE_SIGNAL | unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
	}
	if version >= connectABI && len(rules.Connect) > 0 {
		held.Handled_access_net = unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	runtime.LockOSThread()
	if rules.Alone {
		if err := loopback(); err != nil {
			return err
		}
	}
	if err := restrict(held, func(ruleset int) error {
		return errors.Join(rules.allow(ruleset, held.Handled_access_fs), rules.connect(ruleset, held.Handled_access_net))
	}); err != nil {
		return err
	}
	if err := dropCapabilities(); err != nil || len(rules.Connect) == 0 || network() != nil {
		return err
	}
	return tcpOnly()
}

// Enclose puts the calling thread, and everything that it starts afterwards, into a Landlock domain that no
// signal leaves. The caller must keep its goroutine locked to the thread. The error says that this is not the
// case, as on Linux before 6.12.
func Enclose() error {
	version, err := abi()
	if err != nil {
		return err
	}
	if version < 6 {
		return fmt.Errorf("this Linux has Landlock in version %d, which cannot limit signals", version)
	}
	// Moving a file to another directory, as compilers do, needs the permission of every domain, whatever
	// else the domain controls (https://docs.kernel.org/userspace-api/landlock.html#filesystem-flags).
	const moving = unix.LANDLOCK_ACCESS_FS_REFER
	held := unix.LandlockRulesetAttr{Handled_access_fs: moving, Scoped: unix.LANDLOCK_SCOPE_SIGNAL}
	if err := restrict(held, func(ruleset int) error { return allow(ruleset, "/", moving) }); err != nil {
		return err
	}
	// This program's parent is outside the domain.
	if err := unix.Kill(os.Getppid(), 0); !errors.Is(err, unix.EPERM) {
		return fmt.Errorf("signals get out of the domain (%v)", err)
	}
	return nil
}

// restrict takes on rules about the given access rights, for this thread and what it becomes.
func restrict(held unix.LandlockRulesetAttr, fill func(ruleset int) error) error {
	ruleset, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&held)), unsafe.Sizeof(held), 0)
	if errno != 0 {
		return fmt.Errorf("make a set of rules: %w", errno)
	}
	defer unix.Close(int(ruleset))
	if err := fill(int(ruleset)); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up new privileges: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0, 0); errno != 0 {
		return fmt.Errorf("take on the rules: %w", errno)
	}
	return nil
}

// allow adds what the rules allow to a rule set about these rights. It also allows writing to devices; a
// plain user only has the terminal and the like.
func (r Rules) allow(ruleset int, held uint64) error {
	devices := []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx", "/dev/pts"}
	for _, grant := range []struct {
		places []string
		rights uint64
	}{{r.Write, held}, {r.Show, reading}, {devices, unix.LANDLOCK_ACCESS_FS_WRITE_FILE | reading}} {
		for _, place := range grant.places {
			if err := allow(ruleset, place, grant.rights); err != nil {
				return err
			}
		}
	}
	return r.show(ruleset, "/")
}

// connect adds the allowed network connections to a rule set about these rights.
func (r Rules) connect(ruleset int, held uint64) error {
	if held == 0 {
		return nil
	}
	for _, port := range r.Connect {
		rule := struct{ allowed, port uint64 }{held, uint64(port)}
		_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), netPortRule, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
		if errno != 0 {
			return fmt.Errorf("allow connections to port %d: %w", port, errno)
		}
	}
	return nil
}

// show allows reading a directory, except for what is hidden below it. A right that was granted cannot be
// taken back, so everything next to the hidden paths is allowed one by one.
func (r Rules) show(ruleset int, dir string) error {
	if !r.hides(dir) {
		return allow(ruleset, dir, reading)
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		// A symbolic link is allowed through its target.
		if slices.Contains(r.Hide, path) || entry.Type()&os.ModeSymlink != 0 {
			continue
		}
		if err := r.show(ruleset, path); err != nil {
			return err
		}
	}
	return nil
}

// hides reports whether something below a directory is hidden.
func (r Rules) hides(dir string) bool {
	below := strings.TrimSuffix(dir, "/") + "/"
	return slices.ContainsFunc(r.Hide, func(place string) bool { return strings.HasPrefix(place, below) })
}

// allow grants rights for a path and everything below it. A path that does not exist needs none.
func allow(ruleset int, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EACCES) {
		return nil
	}
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= ofFiles
	}
	beneath := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&beneath)), 0, 0, 0)
	if errno != 0 {
		return &os.PathError{Op: "allow", Path: path, Err: errno}
	}
	return nil
}

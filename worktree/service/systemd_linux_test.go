package service

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"touchstone/worktree/await"
)

// within says that the test is run where there may be a systemd of its own.
const within = "TOUCHSTONE_TEST_WITHIN"

// enclose gives a command its own view of processes and files, with control groups of the version that systemd needs and
// the sign by which systemctl knows that systemd runs.
const enclose = `
group=/sys/fs/cgroup/touchstone-test-$1
shift
mount --make-rprivate / && mount -t tmpfs none /run && mkdir -p /run/systemd/system || exit 77
umount -R /sys/fs/cgroup
mount -t cgroup2 none /sys/fs/cgroup && mkdir $group && echo 0 > $group/cgroup.procs || exit 77
"$@"
code=$?
echo 0 > /sys/fs/cgroup/cgroup.procs
find $group -depth -type d -exec rmdir {} +
exit $code`

// TestSystemdKeepsItRunning runs the unit in a real systemd of this user.
func TestSystemdKeepsItRunning(t *testing.T) {
	if os.Getenv(within) != "" {
		keptRunning(t)
		return
	}
	if _, err := os.Stat("/lib/systemd/systemd"); err != nil || os.Geteuid() != 0 {
		t.Skip("SKIPPED, so that no real systemd has run the unit: it takes root, and Debian's package systemd")
	}
	cmd := exec.CommandContext(t.Context(), "unshare", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child",
		"sh", "-c", enclose, "sh", strconv.Itoa(os.Getpid()), os.Args[0], "-test.run", "^TestSystemdKeepsItRunning$", "-test.v")
	cmd.Env = append(os.Environ(), within+"=1", "XDG_RUNTIME_DIR="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // with it ends all that is within
	said, err := cmd.CombinedOutput()
	if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == 77 {
		t.Skipf("SKIPPED, so that no real systemd has run the unit: this user may mount nothing here: %s", said)
	}
	if err != nil || !strings.Contains(string(said), "--- PASS: TestSystemdKeepsItRunning") {
		t.Errorf("%v\n%s", err, said)
	}
}

func keptRunning(t *testing.T) {
	systemd := exec.Command("/lib/systemd/systemd", "--user", "--log-target=console")
	if err := systemd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = systemd.Process.Kill() // what it runs is gone by then
		_ = systemd.Wait()
	}()
	await.Until(t, "systemd to run", func() bool {
		said, _ := exec.Command("systemctl", "--user", "is-system-running").Output()
		word := strings.TrimSpace(string(said))
		return word == "running" || word == "degraded" // some other unit of this machine's did not start
	})
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	// It runs for ever, or ends with what the file "code" says.
	script := "#!/bin/sh\n[ ! -e " + file("code") + " ] || exit $(cat " + file("code") + ")\n" +
		"echo $$ > " + file("pid") + "\nexec sleep infinity\n"
	if err := os.WriteFile(file("program"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	s := Service{Name: "touchstone-author", Program: file("program"), Path: os.Getenv("PATH"), Version: "v1"}
	install := func() {
		t.Helper()
		if _, err := s.Install(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	status := func() string {
		word, err := s.Status(context.WithoutCancel(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		return word
	}
	started := func(before string) (pid string) {
		t.Helper()
		await.Until(t, "the program to be started", func() bool {
			text, err := os.ReadFile(file("pid"))
			pid = strings.TrimSpace(string(text))
			return err == nil && pid != "" && pid != before
		})
		return pid
	}
	end := func(pid string) {
		t.Helper()
		if out, err := exec.Command("kill", "-KILL", pid).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	install()
	first := started("")
	if got := status(); got != "active" {
		t.Errorf("it is %s", got)
	}
	install()
	if text, err := os.ReadFile(file("pid")); err != nil || strings.TrimSpace(string(text)) != first || status() != "active" {
		t.Errorf("installed again as it was, %s became %s, %v", first, text, err)
	}
	end(first)
	second := started(first)
	if err := os.WriteFile(file("code"), []byte("2"), 0o600); err != nil {
		t.Fatal(err)
	}
	end(second)
	await.Until(t, "a mistake to be the end of it", func() bool { return status() == "failed" })
	if err := os.Remove(file("code")); err != nil {
		t.Fatal(err)
	}
	install()
	third := started(second)
	if err := s.Uninstall(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/proc/" + third); err == nil || status() != "not installed" {
		t.Errorf("removed, it is %s, and its process is there: %v", status(), err)
	}
}

package enginetest

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// unconfinedVariable marks the process that Unconfined starts.
const unconfinedVariable = "TOUCHSTONE_TEST_UNCONFINED"

// Unconfined runs the calling test again in a process to which the kernel denies its sandbox, like an older
// kernel: there it returns true. If it returns false, that process has already done the test.
func Unconfined(t *testing.T) bool {
	t.Helper()
	if os.Getenv(unconfinedVariable) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1")
		cmd.Env = append(os.Environ(), unconfinedVariable+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("without a sandbox: %v\n%s", err, out)
		}
		return false
	}
	// seccomp(2): the system call that creates a rule set fails, all others pass.
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // the number of the system call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: unix.SYS_LANDLOCK_CREATE_RULESET},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&filter))); errno != 0 {
		t.Fatal(errno)
	}
	return true
}

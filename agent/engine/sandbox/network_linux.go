package sandbox

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// network says why connections cannot be limited to certain ports. Landlock limits TCP; a filter of system
// calls blocks every other way by which the process could send or receive.
func network() error {
	version, err := abi()
	switch {
	case err != nil:
		return err
	case version < connectABI:
		return fmt.Errorf("this Linux has Landlock in version %d; limiting connections needs version %d, which Linux 6.7 "+
			"has", version, connectABI)
	case architectures[runtime.GOARCH] == 0:
		return fmt.Errorf("system calls are not filtered on %s", runtime.GOARCH)
	}
	// A kernel with filters tries to read the filter; the null pointer then gives EFAULT (seccomp(2)).
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, 0, 0, 0); !errors.Is(err, unix.EFAULT) {
		return fmt.Errorf("this Linux does not filter system calls (%v)", err)
	}
	return nil
}

// architectures are those for which package unix has the system call numbers of this program, with the
// kernel's id for them. System calls of any other architecture, such as those of 32-bit programs, are
// refused.
var architectures = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

// x32 marks the system calls of the x32 ABI on amd64.
const x32 = 0x40000000

// The offsets of the fields that a filter reads (struct seccomp_data). On both architectures the low half of
// an argument comes first.
const (
	callNumber       = 0
	callArchitecture = 4
	callArguments    = 16
)

// tcpOnly refuses sockets that are neither TCP nor local to this machine, so that Landlock controls all
// connections: it does not cover UDP, Multipath TCP, or data that is sent while a connection is opened (TCP
// Fast Open). io_uring can do all of these without a system call, so it is refused too.
func tcpOnly() error {
	f := filter{}
	f.load(callArchitecture)
	f.unless(architectures[runtime.GOARCH], unix.ENOSYS)
	f.load(callNumber)
	if runtime.GOARCH == "amd64" {
		f.add(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, x32, 0, 1)
		f.refuse(unix.ENOSYS)
	}
	f.call(unix.SYS_IO_URING_SETUP, func(f *filter) { f.refuse(unix.ENOSYS) })
	f.call(unix.SYS_SENDTO, func(f *filter) { f.noFastOpen(3) })
	f.call(unix.SYS_SENDMSG, func(f *filter) { f.noFastOpen(2) })
	f.call(unix.SYS_SENDMMSG, func(f *filter) { f.noFastOpen(3) })
	f.call(unix.SYS_SOCKET, func(f *filter) {
		f.load(callArguments)
		f.allow(unix.AF_UNIX)
		f.allow(unix.AF_NETLINK) // reports this machine's addresses
		f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, unix.AF_INET, 2, 0)
		f.unless(unix.AF_INET6, unix.EAFNOSUPPORT)
		f.load(callArguments + 8)
		f.add(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, ^uint32(unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC), 0, 0)
		f.unless(unix.SOCK_STREAM, unix.EACCES)
		f.load(callArguments + 16)
		f.allow(0)
		f.unless(unix.IPPROTO_TCP, unix.EACCES)
	})
	f.add(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ALLOW, 0, 0)
	program := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0); err != nil {
		return fmt.Errorf("filter system calls: %w", err)
	}
	return nil
}

// filter is a program that the kernel runs for each system call.
type filter []unix.SockFilter

func (f *filter) add(code int, k uint32, yes, no uint8) {
	*f = append(*f, unix.SockFilter{Code: uint16(code), Jt: yes, Jf: no, K: k})
}

// load loads a field of the system call for the following steps.
func (f *filter) load(place uint32) { f.add(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, place, 0, 0) }

// refuse ends the filter with an error for the caller.
func (f *filter) refuse(errno unix.Errno) {
	f.add(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ERRNO|uint32(errno), 0, 0)
}

// allow allows the call if the loaded value is this one.
func (f *filter) allow(value uint32) {
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, value, 0, 1)
	f.add(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ALLOW, 0, 0)
}

// unless refuses the call if the loaded value is not this one.
func (f *filter) unless(value uint32, errno unix.Errno) {
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, value, 1, 0)
	f.refuse(errno)
}

// call runs a part of the filter for one system call number. At the end of the part the call is allowed.
func (f *filter) call(number uint32, part func(*filter)) {
	var steps filter
	part(&steps)
	steps.add(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ALLOW, 0, 0)
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, number, 0, uint8(len(steps)))
	*f = append(*f, steps...)
}

// noFastOpen refuses a call if its argument with this number has MSG_FASTOPEN.
func (f *filter) noFastOpen(argument uint32) {
	f.load(callArguments + 8*argument)
	f.add(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, unix.MSG_FASTOPEN, 0, 1)
	f.refuse(unix.EACCES)
}

// loopback enables the loopback interface in this process's own network namespace.
func loopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request); err != nil {
		return fmt.Errorf("create a network namespace: %w", err)
	}
	return nil
}

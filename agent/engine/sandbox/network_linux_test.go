package sandbox_test

import (
	"net"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"touchstone/agent/engine/sandbox"
)

// ways are means by which a process could reach a port that Landlock knows nothing of.
var ways = map[string]func(to *unix.SockaddrInet4) error{
	"a datagram": func(to *unix.SockaddrInet4) error { return send(to, unix.SOCK_DGRAM, 0, 0) },
	"a datagram, not blocking": func(to *unix.SockaddrInet4) error {
		return send(to, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0, 0)
	},
	"Multipath TCP": func(to *unix.SockaddrInet4) error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return unix.Connect(fd, to)
	},
	"data with the opening": func(to *unix.SockaddrInet4) error { return send(to, unix.SOCK_STREAM, 0, unix.MSG_FASTOPEN) },
	"io_uring": func(*unix.SockaddrInet4) error {
		if fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, 0, 0); errno != unix.EFAULT {
			_ = unix.Close(int(fd))
			return errno
		}
		return nil // it would have read what to set up
	},
	"the calls of 32-bit programs": func(*unix.SockaddrInet4) error {
		const x32Getpid = 0x40000000 + 39
		// Where the kernel has none of them, they are refused as well.
		_, _, errno := unix.Syscall(x32Getpid, 0, 0, 0)
		if errno == 0 {
			return nil
		}
		return errno
	},
	"packets": func(*unix.SockaddrInet4) error {
		fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0)
		if err == nil {
			_ = unix.Close(fd)
		}
		return err
	},
}

func send(to *unix.SockaddrInet4, kind, protocol, flags int) error {
	fd, err := unix.Socket(unix.AF_INET, kind, protocol)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Sendto(fd, []byte("data"), flags, to)
}

// TestNoWayAroundNamedPorts has a process that may connect to one port try to reach another.
func TestNoWayAroundNamedPorts(t *testing.T) {
	if way := os.Getenv("TOUCHSTONE_TEST_WAY"); way != "" {
		address, err := net.ResolveTCPAddr("tcp", os.Getenv("TOUCHSTONE_TEST_TO"))
		if err != nil {
			t.Fatal(err)
		}
		to := &unix.SockaddrInet4{Port: address.Port, Addr: [4]byte(address.IP.To4())}
		if err := ways[way](to); err != nil {
			t.Fatalf("refused: %v", err)
		}
		return
	}
	t.Parallel()
	if err := sandbox.Network(); err != nil {
		t.Skip("SKIPPED, so that nothing is known of the network: ", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	const try = `TOUCHSTONE_TEST_WAY="$2" TOUCHSTONE_TEST_TO="$3" exec "$1" -test.run '^TestNoWayAroundNamedPorts$'`
	open := 0
	for way := range ways {
		if _, err := confined(t, sandbox.Rules{}, try, os.Args[0], way, listener.Addr().String()); err == nil {
			open++
		}
		if out, err := confined(t, sandbox.Rules{Connect: []uint16{1}}, try, os.Args[0], way, listener.Addr().String()); err == nil ||
			!strings.Contains(out, "refused: ") {
			t.Errorf("%s: %q, %v; want it to be refused", way, out, err)
		}
	}
	if open < 2 { // a datagram of either kind
		t.Errorf("with an open network only %d of %d ways are open", open, len(ways))
	}
	if out, err := confined(t, sandbox.Rules{Connect: []uint16{1}}, `cat /proc/self/status`); err != nil ||
		!slices.Contains(strings.Fields(out), "Seccomp:") {
		t.Errorf("a program does not run under the filter: %q, %v", out, err)
	}
}

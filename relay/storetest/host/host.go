// Package host gives tests addresses of this machine that no other process uses.
package host

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// Own returns a loopback IP address that only the caller uses, if the system has more than one, and otherwise
// 127.0.0.1. On such an address, a free port stays free while a server is started or restarted there. On
// 127.0.0.1 the system may give the port to another process meanwhile: one test in some thousands found its
// port taken by a test that ran beside it.
func Own() string {
	ip := fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
	listener, err := net.Listen("tcp", net.JoinHostPort(ip, "0"))
	if err != nil {
		return "127.0.0.1"
	}
	listener.Close() // it was only opened to see whether that is possible
	return ip
}

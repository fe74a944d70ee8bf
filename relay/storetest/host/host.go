// Package host gives tests addresses of this machine that no other process uses.
package host

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// Own is the IP address of a host on loopback that is the caller's own, as far as the
// system has more than one of them, and else 127.0.0.1. A port that is free there stays
// free while what listens on it is started, or started anew. On 127.0.0.1 the system may
// give it to another process meanwhile: there, one test in some thousands found its port
// taken by another that ran beside it.
func Own() string {
	ip := fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
	listener, err := net.Listen("tcp", net.JoinHostPort(ip, "0"))
	if err != nil {
		return "127.0.0.1"
	}
	listener.Close() // it was only to show that one can
	return ip
}

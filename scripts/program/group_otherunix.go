//go:build unix && !linux

package program

import "syscall"

// endWithParent does nothing on kernels without such a signal: a program that is killed leaves its processes
// behind there.
func endWithParent(*syscall.SysProcAttr) {}

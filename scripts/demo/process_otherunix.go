//go:build unix && !linux

package main

import "syscall"

// endWithParent does nothing on kernels without such a signal: a demo that is killed leaves its processes
// behind there.
func endWithParent(*syscall.SysProcAttr) {}

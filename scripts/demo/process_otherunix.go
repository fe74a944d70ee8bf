//go:build unix && !linux

package main

import "syscall"

// endWithParent does nothing where the kernel knows no such thing: there a demo
// that is killed outright leaves its processes behind.
func endWithParent(*syscall.SysProcAttr) {}

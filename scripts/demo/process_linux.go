package main

import "syscall"

// endWithParent has the kernel end the child when the demo itself is killed.
// The signal comes when the thread that started the child ends
// (https://github.com/golang/go/issues/27505); Go ends no thread but one that a
// goroutine was locked to, and no goroutine here is.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGTERM }

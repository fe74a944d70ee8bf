package program

import "syscall"

// endWithParent makes the kernel end the child when this program itself is killed. The signal is sent when the
// thread that started the child ends (https://github.com/golang/go/issues/27505). Go only ends threads to
// which a goroutine was locked, and no goroutine here is locked to one.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGTERM }

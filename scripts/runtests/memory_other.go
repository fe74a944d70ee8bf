//go:build !linux

package main

import "os/exec"

func inMemory(*exec.Cmd) (remove func(), err error) { return func() {}, nil }

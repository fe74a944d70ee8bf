//go:build !linux

package main

// guardAttacks need a process's resource usage as Linux reports it.
var guardAttacks []attack

// agentAttacks need Linux, which has the sandbox that they attack.
var agentAttacks []attack

// diskAttacks need their own file systems.
var diskAttacks []attack

const payloadWord = "payload"

func payload([]string) {}

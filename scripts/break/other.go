//go:build !linux

package main

// agentAttacks are made on Linux alone, where the sandbox is that they are about.
var agentAttacks []attack

const payloadWord = "payload"

func payload([]string) {}

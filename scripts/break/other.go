//go:build !linux

package main

// guardAttacks look at what a process used, as Linux tells it.
var guardAttacks []attack

// agentAttacks are made on Linux alone, where the sandbox is that they are about.
var agentAttacks []attack

// diskAttacks need file systems of their own.
var diskAttacks []attack

const payloadWord = "payload"

func payload([]string) {}

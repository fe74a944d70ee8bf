//go:build !linux

package enginetest

// playThief does nothing: the thief only exists for Linux.
func playThief() {}

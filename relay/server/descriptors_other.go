//go:build !unix

package server

// descriptors is how many connections this process may have open: memory alone limits them.
func descriptors() int64 { return 1 << 20 }

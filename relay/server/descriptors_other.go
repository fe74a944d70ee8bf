//go:build !unix

package server

// descriptors returns how many connections this process may have open. Here only memory limits them.
func descriptors() int64 { return 1 << 20 }

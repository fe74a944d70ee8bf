//go:build !linux

package enginetest

// searchIfAsked does nothing: the search only exists for Linux.
func searchIfAsked() {}

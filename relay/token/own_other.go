//go:build !unix

package token

// own does nothing: here no user of the machine is root.
func own(string) error { return nil }

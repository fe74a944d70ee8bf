//go:build !linux

package sqlite

import "os"

// claim does nothing where no lock of a file's byte is safe beside SQLite's own: the lock
// file beside the store keeps others away, under the same path and through symbolic links.
func claim(*os.File) error { return nil }

func disclaim(*os.File) error { return nil }

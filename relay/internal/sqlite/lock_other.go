//go:build !linux

package sqlite

import "os"

// claim does nothing, because here no lock on a byte of the file is safe beside SQLite's own locks. The lock
// file beside the store keeps others away, under the same path and through symbolic links.
func claim(*os.File) error { return nil }

func disclaim(*os.File) error { return nil }

//go:build unix

package atomicfile

import (
	"errors"
	"os"
)

// SyncDir makes durable that files were created, renamed or removed in dir.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

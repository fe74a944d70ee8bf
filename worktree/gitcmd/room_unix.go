//go:build unix

package gitcmd

import "golang.org/x/sys/unix"

// scarceFiles is a number of free inodes below which a disk counts as full: the failed command may have
// removed some files since.
const scarceFiles = 100

// room returns how many bytes this user may still write to the disk of a directory; 0 if hardly any file can
// be created.
func room(dir string) (bytes uint64, known bool) {
	var stat unix.Statfs_t
	if unix.Statfs(dir, &stat) != nil {
		return 0, false
	}
	if stat.Files > 0 && stat.Ffree < scarceFiles { // some file systems do not count files
		return 0, true
	}
	return stat.Bavail * uint64(stat.Bsize), stat.Blocks > 0 // a tmpfs without a limit says that it has no blocks
}

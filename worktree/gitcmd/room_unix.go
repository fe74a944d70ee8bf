//go:build unix

package gitcmd

import "golang.org/x/sys/unix"

// scarceFiles is what a disk that is full has fewer of: what failed may have removed some since.
const scarceFiles = 100

// room is how many bytes this user may still write to the disk of a directory, none where hardly any
// file can be made.
func room(dir string) (bytes uint64, known bool) {
	var stat unix.Statfs_t
	if unix.Statfs(dir, &stat) != nil {
		return 0, false
	}
	if stat.Files > 0 && stat.Ffree < scarceFiles { // those of some file systems are not counted
		return 0, true
	}
	return stat.Bavail * uint64(stat.Bsize), true
}

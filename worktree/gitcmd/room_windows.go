package gitcmd

import "golang.org/x/sys/windows"

// room returns how many bytes this user may still write to the disk of a directory.
func room(dir string) (bytes uint64, known bool) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil || windows.GetDiskFreeSpaceEx(name, &bytes, nil, nil) != nil {
		return 0, false
	}
	return bytes, true
}

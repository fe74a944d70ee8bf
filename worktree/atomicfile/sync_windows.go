package atomicfile

// SyncDir does nothing: Windows cannot flush a directory, and NTFS keeps a log of renames.
func SyncDir(string) error { return nil }

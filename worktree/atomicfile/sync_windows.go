package atomicfile

// syncDir does nothing: Windows cannot flush a directory, and NTFS keeps a log of renames.
func syncDir(string) error { return nil }

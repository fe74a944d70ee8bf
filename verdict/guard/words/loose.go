package words

import (
	"path"
	"slices"
	"strings"
)

// IsShell reports whether a file of this name is a script of a system's shell.
func IsShell(name string) bool {
	return slices.Contains([]string{".sh", ".bash", ".bat", ".cmd", ".ps1"}, strings.ToLower(path.Ext(name)))
}

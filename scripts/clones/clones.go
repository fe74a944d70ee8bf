// Package clones finds the local clones of public repositories on which this project is measured.
package clones

import (
	"os"
	"path/filepath"
	"strings"
)

// Find returns the directory below dir with a clone of repo, which is given as owner/name: at OWNER/NAME,
// OWNER+NAME/repo or NAME, bare or not; empty if there is none.
func Find(dir, repo string) string {
	_, name, _ := strings.Cut(repo, "/")
	for _, place := range []string{filepath.FromSlash(repo), filepath.Join(strings.ReplaceAll(repo, "/", "+"), "repo"), name} {
		place = filepath.Join(dir, place)
		for _, head := range []string{"HEAD", filepath.Join(".git", "HEAD")} {
			if _, err := os.Stat(filepath.Join(place, head)); err == nil {
				return place
			}
		}
	}
	return ""
}

package gitcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"touchstone/worktree/atomicfile"
)

// mirrorConfig is the mirror's whole configuration. It describes only the file system; the settings that
// determine how commands behave are in settings. See https://git-scm.com/docs/gitrepository-layout.
var mirrorConfig = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n" + map[string]string{
	"darwin":  "\tfilemode = true\n\tignorecase = true\n\tprecomposeunicode = true\n",
	"windows": "\tfilemode = false\n\tignorecase = true\n",
}[runtime.GOOS]

// mirrorAttributes take precedence over every .gitattributes of a checkout: no filter runs, and conflict
// markers have the length that ConflictMarkers looks for. See https://git-scm.com/docs/gitattributes.
const mirrorAttributes = "* -filter conflict-marker-size=7\n"

// restoreConfig restores the mirror's own configuration if it was changed: a command that runs inside a
// worktree can write there, and git would use that configuration.
func (r Repo) restoreConfig() error {
	for name, want := range map[string]string{"config": mirrorConfig, "info/attributes": mirrorAttributes} {
		path := filepath.Join(r.Mirror, filepath.FromSlash(name))
		if have, err := os.ReadFile(path); err == nil && string(have) == want {
			continue
		}
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = atomicfile.Write(path, []byte(want))
		}
		if err != nil {
			return fmt.Errorf("restore the mirror's configuration: %w", err)
		}
	}
	// These files would hide files from git, or replace its history.
	for _, name := range []string{"info/exclude", "info/grafts"} {
		if err := os.Remove(filepath.Join(r.Mirror, filepath.FromSlash(name))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("restore the mirror's configuration: %w", err)
		}
	}
	return nil
}

const (
	// BlobFilter excludes the content of all files.
	BlobFilter = "blob:none"
	// Promisor is the name of the remote from which git fetches missing content.
	Promisor = "touchstone"
	// partialMark is an empty file in mirrors that are partial.
	partialMark = "touchstone-partial"
)

// Partial reports whether the mirror lacks content that its remote has.
func (r Repo) Partial() bool {
	_, err := os.Lstat(filepath.Join(r.Mirror, partialMark))
	return err == nil
}

// promise returns the settings with which git fetches the content that a partial mirror lacks and does not
// treat it as corruption. They are in no file: another program that runs git in a tree, without our
// credentials, gets an error instead of a prompt for a password.
func (r Repo) promise() []string {
	settings := []string{"remote." + Promisor + ".promisor=true", "remote." + Promisor + ".partialCloneFilter=" + BlobFilter}
	if r.Remote != nil {
		settings = append(settings, "remote."+Promisor+".url="+r.Remote.URL)
	}
	return settings
}

// SetPartial records whether the mirror lacks content that its remote has.
func (r Repo) SetPartial(is bool) error {
	mark := filepath.Join(r.Mirror, partialMark)
	if is {
		return atomicfile.Write(mark, nil)
	}
	return os.Remove(mark)
}

//go:build unix

package config

import (
	"cmp"
	"os"
)

func home(getenv func(string) string) string { return getenv("HOME") }

// configHome is where programs keep their settings. macOS uses it too, since people who work in a terminal
// look in the same places.
func configHome(getenv func(string) string) string {
	return cmp.Or(xdg("XDG_CONFIG_HOME", getenv), inside(home(getenv), ".config"))
}

// stateHome is where programs keep state that should survive a restart but may be lost.
func stateHome(getenv func(string) string) string {
	return cmp.Or(xdg("XDG_STATE_HOME", getenv), inside(home(getenv), ".local", "state"))
}

// othersRead reports whether every user of this machine may read the file.
func othersRead(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().Perm()&0o004 != 0
}

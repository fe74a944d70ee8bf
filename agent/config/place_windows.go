package config

import "cmp"

func home(getenv func(string) string) string { return getenv("USERPROFILE") }

// configHome is where programs keep settings that follow their user between machines.
func configHome(getenv func(string) string) string {
	return cmp.Or(xdg("XDG_CONFIG_HOME", getenv), getenv("APPDATA"))
}

// stateHome is where programs keep data that belongs to this machine.
func stateHome(getenv func(string) string) string {
	return cmp.Or(xdg("XDG_STATE_HOME", getenv), getenv("LOCALAPPDATA"))
}

// othersRead always returns false: access lists decide, and a file's mode does not show them. Other users
// cannot read a user's own folders.
func othersRead(string) bool { return false }

package config

import "cmp"

func home(getenv func(string) string) string { return getenv("USERPROFILE") }

// configHome is where programs keep the settings that follow their user.
func configHome(getenv func(string) string) string {
	return cmp.Or(xdg("XDG_CONFIG_HOME", getenv), getenv("APPDATA"))
}

// stateHome is where programs keep what belongs to this machine.
func stateHome(getenv func(string) string) string {
	return cmp.Or(xdg("XDG_STATE_HOME", getenv), getenv("LOCALAPPDATA"))
}

// othersRead is always false: access lists decide here, which a file's mode does not show,
// and a user's own folders are closed to the others.
func othersRead(string) bool { return false }

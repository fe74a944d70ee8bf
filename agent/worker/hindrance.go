package worker

import (
	"errors"
	"slices"

	"touchstone/agent/engine"
	"touchstone/agent/engine/fallback"
	"touchstone/agent/journal"
	"touchstone/worktree"
)

// onDisk is the hindrance of a full or failing disk. switchedOff is that of a session whose model was
// switched off while it ran.
const onDisk, switchedOff = "disk", "off"

// elsewhere are the classes of failures that are caused by this machine, the account or the provider, and say
// nothing about a pull request.
var elsewhere = []engine.Class{
	engine.Missing, engine.Invalid, engine.Auth, engine.Billing, engine.UnknownModel,
	engine.RateLimited, engine.Overloaded, engine.Server, engine.Network,
}

// Hindrance names the cause of a failed act if it is neither the pull request nor GitHub: the disk, or the
// class of an engine's failure. Otherwise it is empty.
func Hindrance(err error) string {
	if errors.Is(err, journal.ErrUnwritten) || worktree.DiskFault(err) {
		return onDisk
	}
	if stopped, ok := errors.AsType[*engine.Error](err); ok && slices.Contains(elsewhere, stopped.Class) {
		return string(stopped.Class)
	}
	if errors.Is(err, fallback.ErrResting) {
		return switchedOff
	}
	return ""
}

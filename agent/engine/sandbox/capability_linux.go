package sandbox

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// kept are the capabilities that a confined process of root keeps, as in many containers: those
// by which builds and tests treat files and processes of their own as root may. All others let it
// see into, change or listen to what is not its own.
var kept = []int{
	unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_KILL,
	unix.CAP_SETGID, unix.CAP_SETUID, unix.CAP_NET_BIND_SERVICE,
}

// dropCapabilities leaves this thread, and what it becomes, none but those that are kept. It
// needs new privileges to be given up already: else root would have all of its bounding set again.
func dropCapabilities() error {
	var mask [2]uint32
	for _, capability := range kept {
		mask[capability/32] |= 1 << (capability % 32)
	}
	for capability := range 64 {
		if mask[capability/32]&(1<<(capability%32)) != 0 {
			continue
		}
		// Without CAP_SETPCAP, or of a capability that this Linux does not have. What is in the
		// bounding set alone cannot be had by who has given up new privileges.
		_ = unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(capability), 0, 0, 0)
	}
	// Before Linux 4.3 there are no ambient ones.
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("give up capabilities: %w", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return fmt.Errorf("read the capabilities: %w", err)
	}
	for i := range sets {
		sets[i].Effective &= mask[i]
		sets[i].Permitted &= mask[i]
		sets[i].Inheritable &= mask[i]
	}
	if err := unix.Capset(&header, &sets[0]); err != nil {
		return fmt.Errorf("give up capabilities: %w", err)
	}
	return nil
}

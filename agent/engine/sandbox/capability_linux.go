package sandbox

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// kept are the capabilities that a confined root process keeps, as in many containers: those by which builds
// and tests use their own files and processes as root. All others would let it see, change or listen to what
// is not its own.
var kept = []int{
	unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_KILL,
	unix.CAP_SETGID, unix.CAP_SETUID, unix.CAP_NET_BIND_SERVICE,
}

// dropCapabilities drops all capabilities of this thread, and of what it becomes, except those that are kept.
// no_new_privs must be set before: otherwise root would get its whole bounding set back.
func dropCapabilities() error {
	var mask [2]uint32
	for _, capability := range kept {
		mask[capability/32] |= 1 << (capability % 32)
	}
	for capability := range 64 {
		if mask[capability/32]&(1<<(capability%32)) != 0 {
			continue
		}
		// This fails without CAP_SETPCAP, and for capabilities that this kernel does not have. Capabilities
		// that are only in the bounding set cannot be gained after no_new_privs.
		_ = unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(capability), 0, 0, 0)
	}
	// Linux before 4.3 has no ambient capabilities.
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

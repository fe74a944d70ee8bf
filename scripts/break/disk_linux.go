package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"touchstone/worktree/steps"
)

// diskAttacks take the disk away from a running relay. They need root, and use their own file system in a file.
var diskAttacks = []attack{
	{"a full disk loses what was acknowledged", onDisk(fillUp)},
	{"a disk that turns read-only loses webhooks", onDisk(func(_ context.Context, v *victim) {
		// As after a disk error: open files can no longer be written.
		steps.Must(execute("mount", "-o", "remount,abort", v.folder))
	})},
	{"a disk that goes away loses webhooks", onDisk(func(_ context.Context, v *victim) {
		steps.Must(execute("umount", "--lazy", v.folder))
	})},
}

// diskSize is the size of the file systems, in bytes.
const diskSize = 32 << 20

func execute(name string, arguments ...string) error {
	if said, err := exec.Command(name, arguments...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(arguments, " "), err, said)
	}
	return nil
}

// onDisk has a relay store webhooks on a disk, damages the disk, and checks whether the relay refuses what it
// cannot store with a sentence, and whether everything acknowledged is there afterwards.
func onDisk(hurt func(context.Context, *victim)) func(context.Context, string) string {
	return func(ctx context.Context, bin string) string {
		top := steps.Got(os.MkdirTemp("", "break"))
		defer os.RemoveAll(top)
		image, folder := filepath.Join(top, "image"), filepath.Join(top, "disk")
		mount := func() error { return execute("mount", "-o", "loop", image, folder) }
		if err := steps.Try(func() {
			steps.Must(os.WriteFile(image, nil, 0o600))
			steps.Must(os.Truncate(image, diskSize))
			steps.Must(os.Mkdir(folder, 0o700))
			steps.Must(execute("mkfs.ext4", "-q", "-F", "-m", "0", image))
			steps.Must(mount())
		}); err != nil {
			steps.Fail("%w, which is root and a loop device with ext4: %w", errSkipped, err)
		}
		defer func() { _ = execute("umount", folder) }() // it may already be unmounted
		v := startOn(ctx, bin, folder)
		defer func() { v.kill() }() // the relay that runs at that time
		v.fill(ctx)
		hurt(ctx, v)
		if achieved := v.takes(ctx); achieved != "" {
			return achieved
		}
		v.kill()
		acknowledged := v.acknowledged
		_ = execute("umount", folder)
		steps.Must(mount())
		v = startOn(ctx, bin, folder)
		if events, _ := v.frames(ctx, acknowledged); len(events) < acknowledged {
			return fmt.Sprintf("%d of %d acknowledged events are there afterwards", len(events), acknowledged)
		}
		return ""
	}
}

// fillUp fills the disk completely.
func fillUp(ctx context.Context, v *victim) {
	filler := steps.Got(os.Create(filepath.Join(v.folder, "filler")))
	defer filler.Close()
	var err error
	for err == nil {
		_, err = filler.Write(make([]byte, 4<<10))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		steps.Must(err)
	}
	// Space that is allocated already may still accept some webhooks.
	status := http.StatusAccepted
	for i := 0; status == http.StatusAccepted; i++ {
		status = v.post(ctx, fmt.Sprint("more-", i), fmt.Sprint("more ", i))
	}
}

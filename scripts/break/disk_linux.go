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
)

// diskAttacks take the disk away from a running relay. They need root, and use their own file system in a file.
var diskAttacks = []attack{
	{"a full disk loses what was acknowledged", onDisk(fillUp)},
	{"a disk that turns read-only loses webhooks", onDisk(func(_ context.Context, v *victim) (string, error) {
		// As after a disk error: open files can no longer be written.
		return "", command("mount", "-o", "remount,abort", v.folder)
	})},
	{"a disk that goes away loses webhooks", onDisk(func(_ context.Context, v *victim) (string, error) {
		return "", command("umount", "--lazy", v.folder)
	})},
}

// diskSize is the size of the file systems, in bytes.
const diskSize = 32 << 20

func command(name string, arguments ...string) error {
	if said, err := exec.Command(name, arguments...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(arguments, " "), err, said)
	}
	return nil
}

// onDisk has a relay store webhooks on a disk, damages the disk, and checks whether the relay refuses what it
// cannot store with a sentence, and whether everything acknowledged is there afterwards.
func onDisk(hurt func(context.Context, *victim) (string, error)) func(context.Context, string) (string, error) {
	return func(ctx context.Context, bin string) (achieved string, err error) {
		top, err := os.MkdirTemp("", "break")
		if err != nil {
			return "", err
		}
		defer os.RemoveAll(top)
		image, folder := filepath.Join(top, "image"), filepath.Join(top, "disk")
		mount := func() error { return command("mount", "-o", "loop", image, folder) }
		err = errors.Join(os.WriteFile(image, nil, 0o600), os.Truncate(image, diskSize), os.Mkdir(folder, 0o700))
		if err == nil {
			err = command("mkfs.ext4", "-q", "-F", "-m", "0", image)
		}
		if err == nil {
			err = mount()
		}
		if err != nil {
			return "", fmt.Errorf("%w, which is root and a loop device with ext4: %w", errSkipped, err)
		}
		defer func() { _ = command("umount", folder) }() // it may already be unmounted
		v, err := startOn(ctx, bin, folder)
		if err != nil {
			return "", err
		}
		defer func() { v.kill() }() // the relay that runs at that time
		if err := v.fill(ctx); err != nil {
			return "", err
		}
		if achieved, err := hurt(ctx, v); achieved != "" || err != nil {
			return achieved, err
		}
		if achieved, err := v.takes(ctx); achieved != "" || err != nil {
			return achieved, err
		}
		v.kill()
		acknowledged := v.acknowledged
		_ = command("umount", folder)
		if err := mount(); err != nil {
			return "", err
		}
		if v, err = startOn(ctx, bin, folder); err != nil {
			return "", err
		}
		events, _, err := v.frames(ctx, acknowledged)
		if err == nil && len(events) < acknowledged {
			return fmt.Sprintf("%d of %d acknowledged events are there afterwards", len(events), acknowledged), nil
		}
		return "", err
	}
}

// fillUp fills the disk completely.
func fillUp(ctx context.Context, v *victim) (string, error) {
	filler, err := os.Create(filepath.Join(v.folder, "filler"))
	if err != nil {
		return "", err
	}
	defer filler.Close()
	for err == nil {
		_, err = filler.Write(make([]byte, 4<<10))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		return "", err
	}
	// Space that is allocated already may still accept some webhooks.
	status := http.StatusAccepted
	for i := 0; status == http.StatusAccepted; i++ {
		if status, err = v.post(ctx, fmt.Sprint("more-", i), fmt.Sprint("more ", i)); err != nil {
			return "", err
		}
	}
	return "", nil
}

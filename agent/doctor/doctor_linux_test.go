package doctor

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"touchstone/agent/config"
	"touchstone/agent/engine/enginetest"
)

func TestDoctorTellsOfAMissingSandbox(t *testing.T) {
	if !enginetest.Unconfined(t) {
		return
	}
	for setting, want := range map[string]string{
		config.Auto:     "ok       sandbox      none: this Linux has no Landlock",
		config.Required: "problem  sandbox      engine.sandbox is required, but there is no sandbox here",
		config.Off:      "ok       sandbox      turned off by engine.sandbox",
	} {
		var out strings.Builder
		d := Doctor{Report: Print(&out), Config: config.Default()}
		d.Config.Engine.Sandbox = setting
		d.check("sandbox", func() (string, error) { return sandboxed(d.Config.Engine) })
		if !strings.HasPrefix(out.String(), want) {
			t.Errorf("%s: %s", setting, &out)
		}
	}
}

// On a full disk an empty file can still be created, but nothing can be written to it.
func TestDoctorTellsOfAFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Skip("SKIPPED, so that nothing is known of a full disk: this user mounts no file system: ", err)
	}
	defer func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	}()
	if err := writable(dir); err != nil {
		t.Errorf("with room: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ballast"), make([]byte, 3<<20), 0o600); !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	if err := writable(dir); !errors.Is(err, unix.ENOSPC) || !strings.Contains(err.Error(), "free some space") {
		t.Errorf("on a full disk: %v", err)
	}
}

package tempdir_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"touchstone/agent/tempdir"
)

// TestDirectoryInUseIsNotCollected while another command begins, and goes with the one that uses it. A
// directory that nobody holds any more goes with the next that begins.
func TestDirectoryInUseIsNotCollected(t *testing.T) {
	t.Parallel()
	state := filepath.Join(t.TempDir(), "[a]") // which has a meaning in patterns of names
	left := filepath.Join(state, "tmp", "once-left")
	daemons := filepath.Join(state, "tmp", "reviewer")
	for _, dir := range []string{left, daemons} {
		if err := os.MkdirAll(filepath.Join(dir, "home"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	first, err := tempdir.Open(t.Context(), state)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(first.Path, "patch"), []byte("+"), 0o600); err != nil {
		t.Fatal(err)
	}
	second, err := tempdir.Open(t.Context(), state)
	if err != nil {
		t.Fatal(err)
	}
	for path, there := range map[string]bool{left: false, daemons: true, filepath.Join(first.Path, "patch"): true, second.Path: true} {
		if _, err := os.Stat(path); (err == nil) != there {
			t.Errorf("%s is there: %v", path, err == nil)
		}
	}
	for _, dir := range []*tempdir.Dir{first, second} {
		if err := dir.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(dir.Path); err == nil {
			t.Errorf("%s is left behind", dir.Path)
		}
	}
}

func TestOpenNamesTheSettingOfItsDirectory(t *testing.T) {
	t.Parallel()
	occupied := filepath.Join(t.TempDir(), "occupied")
	if err := os.WriteFile(occupied, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := tempdir.Open(t.Context(), occupied); err == nil || !strings.Contains(err.Error(), "set state_dir") {
		t.Errorf("it ended in %v", err)
	}
}

// TestCommandsThatBeginAndEndTogetherDoNotDisturbEachOther, as those of several terminals.
func TestCommandsThatBeginAndEndTogetherDoNotDisturbEachOther(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	var said bytes.Buffer
	ctx := zerolog.New(zerolog.SyncWriter(&said)).WithContext(t.Context())
	var commands sync.WaitGroup
	for range 4 {
		commands.Go(func() {
			for range 100 {
				dir, err := tempdir.Open(ctx, state)
				if err != nil {
					t.Error(err)
					return
				}
				if err := os.WriteFile(filepath.Join(dir.Path, "patch"), []byte("+"), 0o600); err != nil {
					t.Error(err)
				}
				if err := dir.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	commands.Wait()
	if said.Len() > 0 {
		t.Error(said.String())
	}
}

package program

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Change replaces the first occurrence of a text in a source file of a program that is built.
type Change struct {
	// File is the file's absolute path.
	File     string
	Old, New string
}

// Build builds a package of this module into a file, like a release. The program has the changes; the source
// stays as it is. See go help build, -overlay.
func Build(ctx context.Context, to, pkg string, changes ...Change) error {
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", to)
	if len(changes) > 0 {
		dir, err := os.MkdirTemp("", "overlay")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		overlay, err := writeOverlay(dir, changes)
		if err != nil {
			return err
		}
		command.Args = append(command.Args, "-overlay", overlay)
	}
	command.Args = append(command.Args, pkg)
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", pkg, err, out)
	}
	return nil
}

// writeOverlay writes the changed files into a directory, and the overlay that puts them in the place of the originals.
func writeOverlay(dir string, changes []Change) (overlay string, err error) {
	texts, places := map[string][]byte{}, map[string]string{}
	for i, c := range changes {
		if texts[c.File] == nil {
			if texts[c.File], err = os.ReadFile(c.File); err != nil {
				return "", err
			}
			places[c.File] = filepath.Join(dir, fmt.Sprintf("%d.go", i))
		}
		if !bytes.Contains(texts[c.File], []byte(c.Old)) {
			return "", fmt.Errorf("%s does not hold %q any more", c.File, c.Old)
		}
		texts[c.File] = bytes.Replace(texts[c.File], []byte(c.Old), []byte(c.New), 1)
	}
	for file, text := range texts {
		if err := os.WriteFile(places[file], text, 0o600); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": places})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, list, 0o600)
}

package imports

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// dependencies are all packages that a program is made of.
func dependencies(t *testing.T, program string) []string {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "./"+program)
	cmd.Dir = filepath.Join("..", "..")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	return strings.Fields(string(out))
}

// copied are the folders that the relay's image is built from.
var copied = regexp.MustCompile(`(?m)^COPY ([a-z]+) [a-z]+$`)

func TestProgramsAreMadeOfWhatTheyNeed(t *testing.T) {
	file, err := os.ReadFile(filepath.Join("..", "deploy", "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	var folders []string
	for _, m := range copied.FindAllStringSubmatch(string(file), -1) {
		folders = append(folders, m[1])
	}
	for _, path := range dependencies(t, "relay") {
		if ours, found := strings.CutPrefix(path, module); found && !under(ours, folders...) {
			t.Errorf("the relay needs %s, and its image is built from %q alone", path, folders)
		}
	}
	for _, path := range dependencies(t, "agent") {
		if slices.ContainsFunc([]string{"cloud.google.com/", "modernc.org/sqlite", module + "relay/hub"},
			func(root string) bool { return strings.HasPrefix(path, root) }) {
			t.Errorf("the laptop's program needs %s, which is for relays", path)
		}
	}
}

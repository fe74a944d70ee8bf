package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"touchstone/guidelines"
	"touchstone/verdict"
)

// defect is a mistake planted in the pull request: the wrong lines, the review's finding about them, and the
// lines that replace them.
type defect struct {
	Path, Contains, Fix string
	Finding             verdict.Finding
}

// defects returns the defects in the script of the model.
func defects(t *testing.T) []defect {
	t.Helper()
	text, err := scriptFile()
	var all struct{ Defects []defect }
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all.Defects
}

// tree unpacks archives over one another into a directory.
func tree(t *testing.T, archives ...[]byte) string {
	t.Helper()
	dir := t.TempDir()
	for _, archive := range archives {
		if err := unpack(archive, dir); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// goTool runs the go command in a tree of the service.
func goTool(dir string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	// As the demo does, so that what either has compiled is of use to both.
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOFLAGS=-trimpath")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// fixed is the pull request's tree with all fixes applied.
func fixed(t *testing.T) string {
	t.Helper()
	dir := tree(t, baseFiles, pullFiles)
	for _, d := range defects(t) {
		path := filepath.Join(dir, filepath.FromSlash(d.Path))
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text = []byte(strings.Replace(string(text), d.Contains, d.Fix, 1))
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestServicePassesItsTests(t *testing.T) {
	for name, dir := range map[string]string{"main": tree(t, baseFiles), "fixed": fixed(t)} {
		t.Run(name, func(t *testing.T) {
			for _, args := range [][]string{{"vet", "./..."}, {"test", "-vet=off", "./..."}} {
				if out, err := goTool(dir, args...); err != nil {
					t.Errorf("go %s: %v\n%s", args[0], err, out)
				}
			}
			if out, err := exec.Command("gofmt", "-l", dir).CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("gofmt -l: %v\n%s", err, out)
			}
		})
	}
}

func TestPullRequestBuildsAndBreaksOneTest(t *testing.T) {
	dir := tree(t, baseFiles, pullFiles)
	if out, err := goTool(dir, "vet", "./..."); err != nil {
		t.Errorf("go vet: %v\n%s", err, out)
	}
	out, err := goTool(dir, "test", "-vet=off", "./...")
	if err == nil || strings.Count(out, "--- FAIL") != 1 || !strings.Contains(out, "--- FAIL: TestListShowsYourOwnNotes") {
		t.Errorf("go test: %v, want TestListShowsYourOwnNotes to fail and no other:\n%s", err, out)
	}
}

func TestEachDefectIsPlantedOnceAndGoesWithItsFix(t *testing.T) {
	pull, mended := tree(t, baseFiles, pullFiles), fixed(t)
	for _, d := range defects(t) {
		t.Run(d.Finding.Rule, func(t *testing.T) {
			for dir, want := range map[string]int{pull: 1, mended: 0} {
				text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(d.Path)))
				if err != nil {
					t.Fatal(err)
				}
				if got := strings.Count(string(text), d.Contains); got != want {
					t.Errorf("%s holds the defect %d times, want %d", d.Path, got, want)
				}
			}
			if d.Finding.Claim == "" || d.Finding.Why == "" || d.Finding.Verify == "" {
				t.Error("the finding lacks its claim, its reason or its check")
			}
		})
	}
}

// TestFindingsCiteGuidelines checks the scripted reviewer's findings against the guidelines that a real
// reviewer gets.
func TestFindingsCiteGuidelines(t *testing.T) {
	rules, err := guidelines.Default()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range defects(t) {
		row, ok := rules.Row(d.Finding.Rule)
		if !ok {
			t.Errorf("%q is cited, and no guideline has such a row", d.Finding.Rule)
			continue
		}
		if !strings.EqualFold(row.Document, string(d.Finding.Dimension)) {
			t.Errorf("the finding about %s is of the dimension %s, its row %s is not", d.Path, d.Finding.Dimension, row.ID)
		}
		if severity := string(d.Finding.Severity); severity != row.Worst() && severity != row.Mildest() {
			t.Errorf("the finding about %s is %s, its row %s is %s", d.Path, d.Finding.Severity, row.ID, row.Severity)
		}
	}
}

func TestDefectsDifferInKindAndWeight(t *testing.T) {
	dimensions, severities := map[verdict.Dimension]bool{}, map[verdict.Severity]bool{}
	for _, d := range defects(t) {
		dimensions[d.Finding.Dimension] = true
		severities[d.Finding.Severity] = true
	}
	if len(dimensions) < 5 || len(severities) != len(verdict.Severities()) {
		t.Errorf("%d dimensions and %d severities, want 5 or more and all %d", len(dimensions), len(severities), len(verdict.Severities()))
	}
}

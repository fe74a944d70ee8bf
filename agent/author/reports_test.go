package author

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReportsAreBounded limits reports, since a verify command runs code of the pull request, which can leave
// anything in the place of a report.
func TestReportsAreBounded(t *testing.T) {
	t.Parallel()
	filled := func(t *testing.T, files map[string]int64) string {
		t.Helper()
		dir := t.TempDir()
		for name, size := range files {
			file, err := os.Create(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if err := file.Truncate(size); err != nil {
				t.Fatal(err)
			}
			if err := file.Close(); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	many := map[string]int64{}
	for i := range maxReports + 1 {
		many[fmt.Sprintf("%d.xml", i)] = 0
	}
	for name, tc := range map[string]struct {
		files map[string]int64
		want  string
	}{
		"many files":  {many, "more than 5000"},
		"large files": {map[string]int64{"a.xml": 64 << 20, "b.xml": 1}, "larger than 64 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := readReports(filled(t, tc.files), []string{"*.xml"}); got.unread == nil || !strings.Contains(got.unusable().Error(), tc.want) {
				t.Errorf("they are read: %v", got.unread)
			}
		})
	}
	t.Run("links", func(t *testing.T) {
		t.Parallel()
		outside, dir := filled(t, map[string]int64{"secret.xml": 1}), t.TempDir()
		for name, to := range map[string]string{"file.xml": filepath.Join(outside, "secret.xml"), "dir": outside} {
			if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
				t.Skip("SKIPPED: no links can be made here: ", err)
			}
		}
		patterns := []string{"*.xml", "dir/*.xml", "**/*.xml"}
		if got := readReports(dir, patterns); len(got.reports) > 0 {
			t.Errorf("%d files outside were read", len(got.reports))
		}
		if err := clearReports(dir, patterns, nil); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Join(outside, "secret.xml")); err != nil {
			t.Errorf("a file outside was deleted: %v", err)
		}
	})
}

func TestReportsOfTheBaseAreForgotten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range maxKept + 3 {
		if err := os.Mkdir(filepath.Join(dir, fmt.Sprintf("%02d", i)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := forgetOldest(dir); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != maxKept || left[0].Name() != "03" {
		t.Errorf("%d are left, the first %v: %v", len(left), left[0], err)
	}
}

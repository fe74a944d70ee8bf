package guard_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"touchstone/verdict/guard/guardtest"
)

// formats begin the names of the spellings that the test tries. The formats' own parsers write these spellings,
// and the guard's parsers read them.
var formats = []string{"YAML", "JSON", "TOML", "XML", "INI", "a script", "a workflow", "a makefile", "an owners"}

// TestFormattingChangesNothing tries a part of the spellings of configurations, pipelines and scripts; make
// guard-mutants tries all of them, and the spellings of code.
func TestFormattingChangesNothing(t *testing.T) {
	t.Parallel()
	const every = 41
	spellings := slices.DeleteFunc(guardtest.Spellings(), func(s guardtest.Spelling) bool {
		return !slices.ContainsFunc(formats, func(f string) bool { return strings.HasPrefix(s.Name, f) })
	})
	n, tried := 0, 0
	for _, dir := range []string{"hit", "pass"} {
		all, err := guardtest.Read(filepath.Join("testdata", dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range all {
			for _, spelling := range spellings {
				if n++; n%every != 0 {
					continue
				}
				for _, v := range guardtest.Variants(s, spelling) {
					tried++
					if differs := v.Differs(); differs != "" {
						t.Errorf("%s: %s: %s", s.Name, v.Name, differs)
					}
				}
			}
		}
	}
	if tried < 300 {
		t.Errorf("%d variants tried, want at least 300", tried)
	}
}

package guard_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"touchstone/verdict/guard"
	"touchstone/verdict/guard/guardtest"
)

func TestExamine(t *testing.T) {
	for _, dir := range []string{"hit", "pass"} {
		all, err := guardtest.Read(filepath.Join("testdata", dir))
		if err != nil {
			t.Fatal(err)
		}
		if len(all) < 120 {
			t.Errorf("%d scenarios in %s, want at least 120", len(all), dir)
		}
		names := map[string]bool{}
		for _, s := range all {
			t.Run(s.Name, func(t *testing.T) {
				if names[s.Name] || (len(s.Want) > 0) != (dir == "hit") {
					t.Fatal("the name is taken, or it stands in the wrong directory")
				}
				names[s.Name] = true
				var got []string
				for _, hit := range guard.Examine(s.Change) {
					got = append(got, fmt.Sprintf("%s %s:%d", hit.Kind, hit.Path, hit.Line))
					if hit.Why == "" || hit.Before == "" && hit.After == "" {
						t.Errorf("a hit without reason or text: %+v", hit)
					}
				}
				slices.Sort(got)
				slices.Sort(s.Want)
				if !slices.Equal(got, s.Want) {
					t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(s.Want, "\n  "))
				}
			})
		}
	}
}

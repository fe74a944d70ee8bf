package change

import (
	"slices"
	"strings"
	"testing"
)

// A cut diff may go on with anything; its beginning tells nothing of the rest.
func TestWhatIsCutIsNoNoise(t *testing.T) {
	t.Parallel()
	for path, text := range map[string]string{
		"go.sum":     "acme.example/x v1.2.3 h1:aGVsbG8=\n",
		"a.js.map":   `{"version":3,"mappings":"AAAA"}` + "\n",
		"app.min.js": strings.Repeat("var a=1;", 100) + "\n",
	} {
		for _, cut := range []bool{false, true} {
			c := changed(t, map[string]string{"app.js": "old\n"}, map[string]string{"app.js": "var a = 1\n", path: text}, func(s *Source) {
				for i := range s.Diff.Files {
					s.Diff.Files[i].Truncated = cut && s.Diff.Files[i].Path == path
				}
			})
			if read := slices.Contains(paths(c.Files), path); read != cut || c.Truncated != cut {
				t.Errorf("%s, cut: %v; it is read: %v; the change is cut: %v", path, cut, read, c.Truncated)
			}
		}
	}
}

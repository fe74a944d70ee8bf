package change

import "testing"

// A declaration that moves to another file of the change is there for those who use it; one whose file is deleted is not.
func TestAPublicDeclarationIsLookedForInTheWholeChange(t *testing.T) {
	const body = "package a\n\n// F adds.\nfunc F(a, b int) int { return a + b }\n\nfunc g(a, b int) int {\n\treturn a - b\n}\n"
	old := map[string]string{"a.go": body, "b.go": "package a\n"}
	for name, test := range map[string]struct {
		files   map[string]string
		deleted string
		want    Tier
	}{
		"renamed file": {map[string]string{"c.go": body}, "a.go", Trivial},
		"moved":        {map[string]string{"b.go": "package a\n\nfunc F(a, b int) int { return b + a }\n"}, "a.go", Lite},
		"deleted":      {nil, "a.go", Full},
		"added":        {map[string]string{"c.go": body}, "", Lite},
	} {
		r := NewRepository(t, old)
		r.Write(test.files)
		if test.deleted != "" {
			r.Git("rm", "-q", test.deleted)
		}
		r.Commit("change")
		tree := r.Acquire()
		d, err := tree.Diff(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c, err := Understand(t.Context(), Source{Diff: d, Checkout: tree.Dir(), Dir: t.TempDir()})
		if err != nil || c.Tier != test.want {
			t.Errorf("%s: %s because of %q, %v; want %s", name, c.Tier, c.Why, err, test.want)
		}
	}
}

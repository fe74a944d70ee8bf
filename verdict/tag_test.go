package verdict

import "testing"

// FuzzTaggedFinding reads comments that anybody with write access may have changed.
func FuzzTaggedFinding(f *testing.F) {
	f.Add("**[Security] major** · `security/S1` · finding `0badcafe`\n\nx")
	f.Add("**[Doc] nit** · finding `0badcafe` · late")
	f.Add("finding `0badcafe`")
	f.Fuzz(func(t *testing.T, body string) {
		if id, ok := TaggedFinding(body); ok && len(id) != 8 {
			t.Fatalf("%q", id)
		}
	})
}

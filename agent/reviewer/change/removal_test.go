package change

import "testing"

func TestARemovalStandsOnTheNearestLineThatIsLeft(t *testing.T) {
	patch := []byte("diff --git a/a b/a\n@@ -10,6 +10,4 @@\n one\n-\tif locked {\n-\t\treturn\n-\t}\n+\tgo()\n two\n three\n@@ -40,2 +38 " +
		"@@\n end\n-last line\n@@ -60,2 +50,0 @@\n-all\n-gone\n")
	for quote, want := range map[string]int{
		"if locked {":                 11,
		"-\tif locked {\n-\t\treturn": 11,
		"return\n}":                   11,
		"last line":                   38,
		"all\ngone":                   0,
		"two":                         0,
		"go()":                        0,
		"":                            0,
	} {
		if line, ok := Removal(patch, quote); ok != (want > 0) || ok && line != want {
			t.Errorf("%q stands on %d, %v; want %d", quote, line, ok, want)
		}
	}
}

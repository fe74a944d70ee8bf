package verdict

import "testing"

// TestAQuoteWithoutALineIsOfWhatIsTakenAway checks that a quote without a line means the removed line, even
// if the file still has an identical line elsewhere.
func TestAQuoteWithoutALineIsOfWhatIsTakenAway(t *testing.T) {
	const twin, gone = "func a() {\n\tif !seen {\n\t\treturn\n\t}\n}\n", "func b() {\n\tif !seen {\n\t\treturn\n\t}\n\tflush()\n}\n"
	g := evidence()
	g.File = files(map[string]string{"store.go": twin + "func b() {\n\tflush()\n}\n"})
	g.Before = files(map[string]string{"store.go": twin + gone})
	f := finding(Major)
	f.Path, f.Quote, f.StartLine, f.Line = "store.go", "\tif !seen {", 0, 0
	if got, dropped := judged(t, g, f); dropped != "" || got.Line != 0 {
		t.Errorf("it stands on line %d, dropped because %q", got.Line, dropped)
	}
	f.Line = 2
	if got, dropped := judged(t, g, f); dropped != "" || got.Line != 2 {
		t.Errorf("with its line it stands on %d, dropped because %q", got.Line, dropped)
	}
}

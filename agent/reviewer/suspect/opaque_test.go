package suspect

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"touchstone/verdict"
)

// A wrapper of Gradle is known by its content alone, whatever it is called, and only as what it is.
func TestPublishedWrappersAreNotHeld(t *testing.T) {
	jar := []byte("PK\x03\x04\x14\x00\x08\x08\x08\x00\x00\x00 a wrapper")
	sum := sha256.Sum256(jar)
	known := wrappers
	t.Cleanup(func() { wrappers = known })
	wrappers += hex.EncodeToString(sum[:]) + "\n"
	for name, tc := range map[string]struct {
		path    string
		content []byte
		held    bool
	}{
		"a published one":        {"gradle/wrapper/gradle-wrapper.jar", jar, false},
		"one byte is another":    {"gradle/wrapper/gradle-wrapper.jar", append([]byte("PK\x03\x05"), jar[4:]...), true},
		"under another name":     {"lib/tools.jar", jar, true},
		"the sums are published": {"gradle/wrapper/gradle-wrapper.jar", []byte(strings.Fields(known)[0] + "\x00"), true},
	} {
		if held, _ := Opaque(tc.path, tc.content, true); len(held) > 0 != tc.held {
			t.Errorf("%s: %+v, want held %t", name, held, tc.held)
		}
	}
}

const (
	nothing = "nothing"
	doubted = "evidence"
	held    = "held"
)

// said is what is said of a file.
func said(name, content string, executable bool) string {
	switch holds, evidence := Opaque(name, []byte(content), executable); {
	case len(holds) > 0:
		return held
	case len(evidence) > 0:
		return doubted
	}
	return nothing
}

var zone = "TZif2" + strings.Repeat("\x00", 31) + "\x00\x00\x00\x01\x00\x00\x00\x04"

const (
	elf = "\x7fELF\x02\x01\x01\x00\x00\x00"
	zip = "PK\x03\x04\x14\x00\x00\x00"
	gif = "GIF89a\x01\x00\x01\x00\x00\x00\x00;"
	odd = "\x00\x01\x02\x03\xff\xfe\x00\x80"
	ods = "PK\x03\x04\x14\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00.\x00\x00\x00.\x00\x00\x00\x08\x00\x00\x00mimetypeapplication/" +
		"vnd.oasis.opendocument.spreadsheet"
)

// What is only looked at is not held, whatever writes it; what a machine runs or unpacks is, and text whose lines no
// diff shows. Of documents and the data of tests, the session has to say what reads them.
func TestOpaqueFilesByContentAndPlace(t *testing.T) {
	for name, tc := range map[string]struct{ path, content, want string }{
		"a TIFF":                           {"assets/a.tif", "II*\x00\x08\x00\x00\x00\x00", nothing},
		"a Photoshop picture":              {"assets/a.PSD", "8BPS\x00\x01\x00\x00\x00\x00\x00\x00\x00\x03", nothing},
		"an icon of macOS":                 {"assets/a.icns", "icns\x00\x00\x10\x00ic07", nothing},
		"a picture of a test":              {"tests/a.gif", gif, nothing},
		"text in UTF-8":                    {"assets/file", "rm *\n", nothing},
		"a program":                        {"assets/file", elf, held},
		"a program of a test":              {"testdata/tool", elf, doubted},
		"an archive":                       {"assets/file", zip, held},
		"an archive of a test":             {"testdata/a.zip", zip, doubted},
		"a picture named as an archive":    {"lib/a.jar", gif, held},
		"and as code":                      {"web/a.js", gif, held},
		"and as nothing":                   {"bin/deploy", gif, doubted},
		"and as a bundle":                  {"lib/a.tar", gif, doubted},
		"and as a makefile":                {"Makefile", gif, held},
		"and as an archive, of a test":     {"tests/a.jar", gif, doubted},
		"an archive named as a test":       {"libs/a_test.jar", zip, held},
		"an archive that ships":            {"src/main/resources/fixtures/a.zip", zip, held},
		"a wrapper in a sample":            {"e2e/app/gradle/wrapper/gradle-wrapper.jar", zip, held},
		"another one":                      {"tests/.mvn/wrapper/maven-wrapper.jar", zip, held},
		"compiled code beside a test":      {"tests/__pycache__/util.cpython-312.pyc", odd, held},
		"a module beside a test":           {"tests/util.cpython-312-x86_64-linux-gnu.so", elf, held},
		"a class before a dependency's":    {"src/test/resources/org/junit/Assert.class", "\xca\xfe\xba\xbe\x00\x00\x00\x34", held},
		"a class of a test":                {"tests/cp/A.class", "\xca\xfe\xba\xbe\x00\x00\x00\x34", doubted},
		"what Go links":                    {"test/e2e/a_linux_amd64.syso", elf, held},
		"a library of a test":              {"testdata/liba.so", elf, doubted},
		"nothing that is known":            {"assets/file", odd, held},
		"nothing that is known, of a test": {"tests/objects/1f", odd, doubted},
		"code that is not text, of a test": {"tests/a_test.py", odd, held},
		"text in UTF-16":                   {"assets/file", "\xff\xfer\x00m\x00 \x00*\x00\n\x00", held},
		"without a mark":                   {"assets/file", "\x00r\x00m\x00 \x00*\x00\n", held},
		"and data of a test":               {"tests/file", "\xff\xfer\x00m\x00 \x00*\x00\n\x00", doubted},
		"and a test":                       {"tests/a_test.py", "\xff\xfer\x00m\x00 \x00*\x00\n\x00", held},
		"and a project of tests":           {"Acme.App.Tests/Acme.App.Tests.csproj", "\xff\xfe<\x00P\x00>\x00\n\x00", held},
		"a script with a byte in it":       {"tests/run", "#!/bin/sh\n# \x00\n", held},
		"a document":                       {"samples/a.ods", ods, doubted},
		"a document named as an archive":   {"samples/a.jar", ods, held},
		"a document named as another":      {"samples/a.xlsm", ods, held},
		"a time zone":                      {"tzdb/Europe/Berlin", zone, doubted},
		"a catalog of gettext":             {"locale/de/messages.mo", "\xde\x12\x04\x95\x00\x00\x00\x00", doubted},
		"in the other byte order":          {"locale/de/messages.mo", "\x95\x04\x12\xde\x00\x00\x00\x00", doubted},
		"a catalog of another name":        {"locale/de/messages", "\xde\x12\x04\x95\x00\x00\x00\x00", held},
		"a program named as a catalog":     {"locale/de/messages.mo", elf, held},
	} {
		if got := said(tc.path, tc.content, false); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
		want := held
		switch {
		case tc.content == "rm *\n":
			want = nothing
		case tc.want == nothing: // a picture
			want = doubted
		}
		if got := said(tc.path, tc.content, true); got != want {
			t.Errorf("%s, executable: %s, want %s", name, got, want)
		}
	}
}

func TestEvidenceSaysThatAPictureIsExecutable(t *testing.T) {
	for name, want := range map[string]string{"docs/a.gif": "(image/gif, executable)", "docs/a": "(image/gif)"} {
		_, evidence := Opaque(name, []byte("GIF89a\x00"), name == "docs/a.gif")
		if len(evidence) != 1 || !strings.Contains(evidence[0].Detail, want) {
			t.Errorf("%s: %+v, want %q", name, evidence, want)
		}
	}
}

// A record keeps the beginning of what holds a change: it says why.
func TestWhatHoldsASubmoduleComesFirst(t *testing.T) {
	doubt, commit := strings.Repeat("d", 300), strings.Repeat("c", 40)
	if kept := verdict.Clip(Elsewhere("lib", commit, doubt).Detail, verdict.MaxReason); !strings.Contains(kept, doubt+". ") ||
		!strings.Contains(kept, commit) {
		t.Errorf("of a long reason, a record keeps %q", kept)
	}
	for _, letter := range []string{"a", "ж", "\x01"} {
		kept := verdict.Clip(Redirected(".gitmodules", []string{strings.Repeat(letter, 250), "b"}).Detail, verdict.MaxReason)
		if !strings.Contains(kept, " and 1 more.") || !strings.Contains(kept, "Whoever may push there decides") {
			t.Errorf("of a long path, a record keeps %q", kept)
		}
	}
}

package suspect

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
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
		if _, held := Opaque(tc.path, tc.content, true); held != tc.held {
			t.Errorf("%s: held %t, want %t", name, held, tc.held)
		}
	}
}

// What is only looked at is not held, whatever writes it; what a machine runs or unpacks is, and text whose lines no
// diff shows.
func TestPicturesAreNotHeld(t *testing.T) {
	for name, tc := range map[string]struct {
		content string
		held    bool
	}{
		"a TIFF":                {"II*\x00\x08\x00\x00\x00\x00", false},
		"a Photoshop picture":   {"8BPS\x00\x01\x00\x00\x00\x00\x00\x00\x00\x03", false},
		"an icon of macOS":      {"icns\x00\x00\x10\x00ic07", false},
		"a program of Linux":    {"\x7fELF\x02\x01\x01\x00\x00\x00", true},
		"a ZIP archive":         {"PK\x03\x04\x14\x00\x00\x00", true},
		"nothing that is known": {"\x00\x01\x02\x03\xff\xfe\x00\x80", true},
		"text in UTF-16":        {"\xff\xfer\x00m\x00 \x00*\x00\n\x00", true},
		"without a mark":        {"\x00r\x00m\x00 \x00*\x00\n", true},
		"text in UTF-8":         {"rm *\n", false},
	} {
		if _, held := Opaque("assets/file", []byte(tc.content), false); held != tc.held {
			t.Errorf("%s: held %t, want %t", name, held, tc.held)
		}
	}
}

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

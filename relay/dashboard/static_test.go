package dashboard

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path"
	"strings"
	"testing"
)

// The files of others are as their packages publish them, and the list of them is complete.
func TestVendoredFilesAreAsPublished(t *testing.T) {
	text, err := staticFiles.ReadFile("static/vendor/SOURCES.json")
	if err != nil {
		t.Fatal(err)
	}
	var sources []struct{ Package, Version, Licence, File, SHA256 string }
	if err := json.Unmarshal(text, &sources); err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{}
	for _, s := range sources {
		listed["vendor/"+path.Base(s.File)] = s.SHA256
	}
	for name, file := range assets() {
		if !strings.HasPrefix(name, "vendor/") {
			continue
		}
		sum := sha256.Sum256(file.body)
		if got := hex.EncodeToString(sum[:]); got != listed[name] {
			t.Errorf("%s has the hash %s, SOURCES.json says %q", name, got, listed[name])
		}
		delete(listed, name)
	}
	if len(listed) > 0 {
		t.Errorf("SOURCES.json lists what is not there: %v", listed)
	}
}

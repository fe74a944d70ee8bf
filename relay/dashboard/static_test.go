package dashboard

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"path"
	"strconv"
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

// A file is sent with its length, compressed to who takes that, and not again to who has it. Caches may share it between
// all viewers, and keep it for good at an address that changes with it.
func TestAFileIsSentAsItsHeadersSay(t *testing.T) {
	file := assets()["page.css"]
	whole, small := strconv.Itoa(len(file.body)), strconv.Itoa(len(file.compressed()))
	const asked, kept = "public, no-cache", "public, max-age=31536000, immutable"
	for _, test := range []struct {
		method, address, accepted, known string
		want                             string // status, cache control, encoding, length and how many bytes are sent
	}{
		{"GET", "/static/page.css", "", "", "200 " + asked + "  " + whole + " " + whole},
		{"GET", staticPath("page.css"), "br, gzip", "", "200 " + kept + " gzip " + small + " " + small},
		{"GET", "/static/page.css?v=older", "gzip", `"other"`, "200 " + asked + " gzip " + small + " " + small},
		{"HEAD", staticPath("page.css"), "gzip", "", "200 " + kept + " gzip " + small + " 0"},
		{"GET", staticPath("page.css"), "gzip", `"other", ` + file.tag, "304 " + kept + "   0"},
	} {
		r := httptest.NewRequest(test.method, test.address, nil)
		r.SetPathValue("name", "page.css")
		r.Header.Set("Accept-Encoding", test.accepted)
		r.Header.Set("If-None-Match", test.known)
		w := httptest.NewRecorder()
		Static(w, r)
		header := w.Header()
		got := fmt.Sprintln(w.Code, header.Get("Cache-Control"), header.Get("Content-Encoding"), header.Get("Content-Length"), w.Body.Len())
		if got != test.want+"\n" || header.Get("Vary") != "Accept-Encoding" || header.Get("Etag") != file.tag {
			t.Errorf("%s %s: got %swant %s; %v", test.method, test.address, got, test.want, header)
		}
	}
}

package dashboard

import (
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
)

//go:embed static
var staticFiles embed.FS

// assets are the files by their names, as they are sent.
var assets = sync.OnceValue(func() map[string]*answer {
	all := map[string]*answer{}
	err := fs.WalkDir(staticFiles, "static", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(name, ".txt") || strings.HasSuffix(name, ".json") {
			return err
		}
		text, err := staticFiles.ReadFile(name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(text)
		header := http.Header{"Content-Type": {mime.TypeByExtension(path.Ext(name))}, "Vary": {"Accept-Encoding"}}
		all[strings.TrimPrefix(name, "static/")] = &answer{http.StatusOK, header, text, `"` + hex.EncodeToString(sum[:6]) + `"`,
			sync.OnceValue(func() []byte { return compress(text, gzip.BestCompression) })}
		return nil
	})
	if err != nil {
		panic(err) // the files are part of the program
	}
	return all
})

// version returns what changes with the content of an answer.
func (a *answer) version() string { return strings.Trim(a.tag, `"`) }

// staticPath returns the address of a file.
func staticPath(name string) string { return "/static/" + name + "?v=" + assets()[name].version() }

// Static answers with a file of the page. It asks for no token, because these files hold no data.
func Static(w http.ResponseWriter, r *http.Request) {
	file, ok := assets()[r.PathValue("name")]
	if !ok {
		refuse(w, r, http.StatusNotFound, "file not found")
		return
	}
	w.Header().Set("Cache-Control", "public, no-cache")
	if r.URL.Query().Get("v") == file.version() {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	file.send(w, r)
}

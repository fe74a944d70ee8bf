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

// asset is a static file of the page, as it is sent.
type asset struct {
	contentType       string
	hash              string
	plain, compressed []byte
}

// assets are the files by their names.
var assets = sync.OnceValue(func() map[string]asset {
	all := map[string]asset{}
	err := fs.WalkDir(staticFiles, "static", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(name, ".txt") || strings.HasSuffix(name, ".json") {
			return err
		}
		text, err := staticFiles.ReadFile(name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(text)
		all[strings.TrimPrefix(name, "static/")] = asset{mime.TypeByExtension(path.Ext(name)), hex.EncodeToString(sum[:6]), text,
			compress(text, gzip.BestCompression)}
		return nil
	})
	if err != nil {
		panic(err) // the files are part of the program
	}
	return all
})

// staticPath returns the address of a file, which changes with its content.
func staticPath(name string) string { return "/static/" + name + "?v=" + assets()[name].hash }

// Static answers with a file of the page. It asks for no token, because these files hold no data.
func Static(w http.ResponseWriter, r *http.Request) {
	file, ok := assets()[r.PathValue("name")]
	if !ok {
		refuse(w, r, http.StatusNotFound, "file not found")
		return
	}
	header := w.Header()
	secure(header)
	header.Set("Content-Type", file.contentType)
	header.Set("Vary", "Accept-Encoding")
	header.Set("ETag", `"`+file.hash+`"`)
	header.Set("Cache-Control", "public, no-cache")
	if r.URL.Query().Get("v") == file.hash {
		header.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	if r.Header.Get("If-None-Match") == `"`+file.hash+`"` {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := file.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		header.Set("Content-Encoding", "gzip")
		body = file.compressed
	}
	_, _ = w.Write(body) // if it fails, the client is gone
}

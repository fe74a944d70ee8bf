package dashboard

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
)

// policy lets the page load from the relay alone, and run nothing but its own files.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'"

// minCompressed is the length in bytes from which on an answer is worth compressing.
const minCompressed = 1 << 10

// secure sets the headers of every answer.
func secure(header http.Header) {
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
}

// send answers with a body, compressed where the client accepts it, and with nothing but a 304
// where the client has it.
func send(w http.ResponseWriter, r *http.Request, status int, contentType string, body []byte) {
	header := w.Header()
	secure(header)
	header.Set("Content-Type", contentType)
	header.Set("Vary", "Accept-Encoding, Cookie, Authorization")
	if header.Get("Cache-Control") == "" {
		header.Set("Cache-Control", "private, no-cache")
	}
	if status == http.StatusOK {
		sum := sha256.Sum256(body)
		tag := `W/"` + hex.EncodeToString(sum[:12]) + `"`
		header.Set("ETag", tag)
		if strings.Contains(r.Header.Get("If-None-Match"), tag) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	if len(body) >= minCompressed && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		var small bytes.Buffer
		out, _ := gzip.NewWriterLevel(&small, gzip.BestSpeed) // the level is a good one
		_, _ = out.Write(body)                                // to memory, which never fails
		_ = out.Close()
		header.Set("Content-Encoding", "gzip")
		body = small.Bytes()
	}
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // if it fails, the client is gone
	}
}

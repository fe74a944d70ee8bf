package dashboard

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// policy lets the page load only from the relay, and run nothing but the relay's files.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'"

// minCompressed is the length in bytes from which an answer is worth compressing.
const minCompressed = 1 << 10

// secure sets the headers of every answer.
func secure(header http.Header) {
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
}

// send answers with a body, compressed if the client accepts that, or with 304 if the client has the body
// already.
func send(w http.ResponseWriter, r *http.Request, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	newAnswer(status, nil, body).send(w, r)
}

// compress returns a text in gzip's format, at a valid level.
func compress(text []byte, level int) []byte {
	var small bytes.Buffer
	out, _ := gzip.NewWriterLevel(&small, level)
	_, _ = out.Write(text) // to memory, which never fails
	_ = out.Close()
	return small.Bytes()
}

// answer is an answer to one client or to many.
type answer struct {
	status     int
	header     http.Header
	body       []byte
	tag        string
	compressed func() []byte // the compressed body, made on first use
}

func newAnswer(status int, header http.Header, body []byte) *answer {
	sum := sha256.Sum256(body)
	return &answer{status, header, body, `W/"` + hex.EncodeToString(sum[:12]) + `"`, sync.OnceValue(func() []byte {
		return compress(body, gzip.BestSpeed)
	})}
}

func (a *answer) send(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	maps.Copy(header, a.header)
	secure(header)
	header.Set("Vary", cmp.Or(header.Get("Vary"), "Accept-Encoding, Cookie, Authorization, HX-Request"))
	header.Set("Cache-Control", cmp.Or(header.Get("Cache-Control"), "private, no-cache"))
	if a.status == http.StatusOK {
		header.Set("ETag", a.tag)
		if strings.Contains(r.Header.Get("If-None-Match"), a.tag) {
			header.Del("Content-Length")
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	body := a.body
	if len(body) >= minCompressed && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		header.Set("Content-Encoding", "gzip")
		body = a.compressed()
	}
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(a.status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // if it fails, the client is gone
	}
}

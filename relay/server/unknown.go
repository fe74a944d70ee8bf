package server

import (
	"net/http"
	"strings"
)

// likeTheAPI answers requests below /api/v1 that mux has no handler for in the form of the API's other errors. The
// answers of net/http are plain text.
func likeTheAPI(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/api/v1/") {
			if _, pattern := mux.Handler(r); pattern == "" {
				w = refusal{w}
			}
		}
		mux.ServeHTTP(w, r)
	})
}

// refusal replaces the text of an error of net/http.
type refusal struct{ http.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (r refusal) WriteHeader(status int) {
	sentence := "the relay has no such path; its README lists the API's"
	if status == http.StatusMethodNotAllowed {
		sentence = "this path accepts only " + r.Header().Get("Allow")
	}
	refuse(r.ResponseWriter, status, sentence)
}

// Write implements http.ResponseWriter.
func (refusal) Write(text []byte) (int, error) { return len(text), nil }

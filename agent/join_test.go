package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"
)

// invitation is a code as a relay writes it.
const (
	invitation  = "inv_abcdefgh_abcdefghijklmnopqrstuvwxyz234567abcdefghijklmnopqrst"
	memberToken = "rly_abcdefgh_abcdefghijklmnopqrstuvwxyz234567abcdefghijklmnopqrst"
)

// invited starts a relay that takes one invitation for a role, and sets LINK to it. Its answers are
// those of the relay's own tests: invited ROLE [REPOSITORY].
func invited(ts *testscript.TestScript, _ bool, args []string) {
	var used atomic.Bool
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/v1/join", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		switch {
		case !strings.Contains(string(body), invitation):
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":"that is no invitation of this relay"}`)
		case used.Swap(true):
			w.WriteHeader(http.StatusGone)
			_, _ = io.WriteString(w, `{"error":"this invitation was used already"}`)
		default:
			_ = json.NewEncoder(w).Encode(map[string]any{
				"relay": "http://elsewhere.example", "token": memberToken, "role": args[0],
				"repositories": append([]string{}, args[1:]...), "reviewers": []string{judge},
			})
		}
	})
	mux.HandleFunc("GET /readyz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /control", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+memberToken {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, `{"id":"q7m2x4ka-1","settings":{}}`)
	})
	relay := httptest.NewServer(mux)
	ts.Defer(relay.Close)
	ts.Setenv("LINK", relay.URL+"/join#"+invitation)
	ts.Setenv("RELAY", relay.URL)
}

// refused starts a relay that takes no invitation, and sets LINK to one of it: refused STATUS SENTENCE.
func refused(ts *testscript.TestScript, _ bool, args []string) {
	status, err := strconv.Atoi(args[0])
	ts.Check(err)
	relay := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": args[1]})
	}))
	ts.Defer(relay.Close)
	ts.Setenv("LINK", relay.URL+"/join#"+invitation)
}

// program puts a shell script on the PATH: program NAME SCRIPT.
func program(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs("programs")
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(os.WriteFile(filepath.Join(dir, args[0]), []byte("#!/bin/sh\n"+args[1]+"\n"), 0o755))
	if path := ts.Getenv("PATH"); !strings.HasPrefix(path, dir) {
		ts.Setenv("PATH", dir+string(os.PathListSeparator)+path)
	}
}

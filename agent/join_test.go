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

// invited starts a relay that takes one invitation for a role, and sets LINK to it: invited ROLE [REPOSITORY].
func invited(ts *testscript.TestScript, _ bool, args []string) {
	relay := inviting(args[0], args[1:]...)
	ts.Defer(relay.Close)
	ts.Setenv("LINK", relay.URL+"/join#"+invitation)
	ts.Setenv("RELAY", relay.URL)
}

// inviting is a relay that takes one invitation for a role. Its answers are those of the relay's own tests.
func inviting(role string, repositories ...string) *httptest.Server {
	var used atomic.Bool
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, r *http.Request, gone bool, token string) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		switch {
		case !strings.Contains(string(body), invitation):
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":"invitation not found on this relay"}`)
		case gone:
			w.WriteHeader(http.StatusGone)
			_, _ = io.WriteString(w, `{"error":"this invitation was already used"}`)
		default:
			_ = json.NewEncoder(w).Encode(map[string]any{
				"relay": "http://elsewhere.example", "token": token, "role": role,
				"repositories": append([]string{}, repositories...), "reviewers": []string{judge},
			})
		}
	}
	mux.HandleFunc("POST /api/v1/join/look", func(w http.ResponseWriter, r *http.Request) { answer(w, r, used.Load(), "") })
	mux.HandleFunc("POST /api/v1/join", func(w http.ResponseWriter, r *http.Request) { answer(w, r, used.Swap(true), memberToken) })
	mux.HandleFunc("GET /readyz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /control", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+memberToken {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, `{"id":"q7m2x4ka-1","settings":{}}`)
	})
	return httptest.NewServer(mux)
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

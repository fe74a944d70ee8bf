package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"touchstone/agent/githubsim"
	"touchstone/agent/githubsim/person"
)

// browse is xdg-open: a person with a browser, who makes the App that a page describes and installs it where
// BROWSER says: a repository, "nowhere", or "gone" to close the page; "forged" for what another program of the machine tries, which
// has found the port, and another page; or "seen" and "robbed" for one that has read the page's address off the browser's
// command line, and opens it first, or answers it with an App of its own.
func browse() {
	page, mode := os.Args[len(os.Args)-1], os.Getenv("BROWSER")
	at := person.Person{GitHub: os.Getenv("GITHUB_WEB")}
	var err error
	switch {
	case mode == "gone":
	case mode == "forged" && !strings.HasSuffix(page, "/installations/new"):
		found := page[:strings.LastIndex(page, "/")+1]
		if next, made := at.MakeApp(found); made == nil {
			err = person.Install(next, "acme/app")
		}
		_, _, guessed := person.Visit(http.Get(found + "made?code=0123&state=guess"))
		err = errors.Join(err, guessed)
	case mode == "seen":
		if _, _, err = person.Visit(http.Get(page)); err == nil {
			if _, made := at.MakeApp(page); made == nil {
				err = errors.New("the person's browser gets the page too")
			}
		}
	case mode == "robbed":
		at.Organization = "mallory"
		_, err = at.MakeApp(page)
	case strings.HasSuffix(page, "/installations/new"):
		err = person.Install(page, mode)
	default:
		if page, err = at.MakeApp(page); err == nil {
			err = person.Install(page, mode)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// administered starts a relay that takes an App's secret from its administrator, rly_admin, and writes into the file
// secret what it was given. Its answers are those of the relay's own tests: administered.
func administered(ts *testscript.TestScript, _ bool, _ []string) {
	mux := http.NewServeMux()
	admins := func(next http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if r.Header.Get("Authorization") != "Bearer rly_admin" {
				w.WriteHeader(http.StatusForbidden)
				_, _ = io.WriteString(w, `{"error":"this needs an access token with the role admin"}`)
				return
			}
			next(w, r)
		}
	}
	relay := httptest.NewServer(mux)
	ts.Defer(relay.Close)
	mux.HandleFunc("GET /api/v1/sources", admins(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{
			"sources": []map[string]any{{"name": "github", "url": relay.URL + "/webhooks/github", "app": false}}})
	}))
	file := ts.MkAbs("secret")
	mux.HandleFunc("PUT /api/v1/sources/github/app-secret", admins(func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Secret string }
		if json.NewDecoder(r.Body).Decode(&asked) != nil || os.WriteFile(file, []byte(asked.Secret), 0o600) != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	ts.Setenv("RELAY", relay.URL)
}

// hooked wants the webhook of the only App to lead to the relay, signed with the secret that the relay was given.
func (w *world) hooked(args []string) error {
	apps := w.Apps()
	if len(apps) != 1 {
		return fmt.Errorf("there are the Apps %v", apps)
	}
	secret, err := os.ReadFile(args[1])
	if err != nil {
		return err
	}
	if address, signed := w.Hook(apps[0]); address != args[0]+"/webhooks/github" || signed != string(secret) {
		return fmt.Errorf("the webhook of %s leads to %s, and its secret is another than the relay's: %t", apps[0], address,
			signed != string(secret))
	}
	return nil
}

// apps wants as many Apps to have been made: apps COUNT.
func (w *world) apps(args []string) error {
	if got := w.Apps(); fmt.Sprint(len(got)) != args[0] {
		return fmt.Errorf("there are the Apps %v", got)
	}
	return nil
}

// counting has merges into a branch take an approval, of people alone or of a code owner's: counting [BRANCH [people|owners]].
func (w *world) counting(args []string) error {
	rules := map[string]githubsim.Protection{}
	if len(args) > 0 {
		rule := githubsim.Protection{Approvals: 1, PeopleOnly: slices.Contains(args, "people")}
		if slices.Contains(args, "owners") {
			rule.CodeOwners = []string{judge}
		}
		rules[args[0]] = rule
	}
	return w.Protect("acme/app", rules)
}

// suspend suspends the only App's installation: suspend OWNER.
func (w *world) suspend(args []string) error {
	for _, app := range w.Apps() {
		if err := w.Suspend(app, args[0], true); err != nil {
			return err
		}
	}
	return nil
}
